# Black-box tests of the program: each script has a scratch folder and repository of its own.
# what lib.sh asks JSON with
add_executable(json_get ${CMAKE_CURRENT_LIST_DIR}/json_get.c)
target_link_libraries(json_get PRIVATE orch_base)
# The scripts start Python over a thousand times, and most need only its own modules: the system's starts in a quarter of
# the time of one whose packages run code at each start. Else the interpreter behind 'python3', which may be a script.
set(ORCH_PYTHON /usr/bin/python3)
execute_process(COMMAND ${ORCH_PYTHON} -c "import sys; sys.exit(sys.version_info < (3, 9))" RESULT_VARIABLE status ERROR_QUIET)
if(NOT status EQUAL 0)
  execute_process(COMMAND python3 -c "import sys; print(sys.executable)"
    OUTPUT_VARIABLE ORCH_PYTHON OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
# orch_cli_test(NAME SCRIPT [ARG...])
function(orch_cli_test name)
  add_test(NAME cli.${name} COMMAND bash ${ARGN})
  set_tests_properties(cli.${name} PROPERTIES LABELS "quick" TIMEOUT 600 SKIP_RETURN_CODE 77
    ENVIRONMENT "${ORCH_TEST_ENVIRONMENT};ORCH_PYTHON=${ORCH_PYTHON}")
endfunction()
# those of core lie here, those of a feature in tests/FEATURE; the number says which is meant
file(GLOB scripts CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/*/[0-9]*.sh)
list(REMOVE_ITEM scripts ${CMAKE_CURRENT_LIST_DIR}/0027-recipes.sh ${CMAKE_CURRENT_LIST_DIR}/0513-no-sentence-repeated.sh
  ${CMAKE_CURRENT_LIST_DIR}/0536-report-fits.sh)
foreach(script ${scripts})
  get_filename_component(name ${script} NAME_WE)
  orch_cli_test(${name} ${script})
endforeach()
# trains something in every profile of every recipe
file(GLOB recipes CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}/recipes ${CMAKE_SOURCE_DIR}/recipes/*.recipe)
foreach(recipe ${recipes})
  string(REGEX REPLACE "[.]recipe$" "" name 0027-recipes-${recipe})
  orch_cli_test(${name} ${CMAKE_CURRENT_LIST_DIR}/0027-recipes.sh ${recipe})
  set_tests_properties(cli.${name} PROPERTIES LABELS "slow" COST 1000 TIMEOUT 2700)
endforeach()
# runs all trials of a recipe as programs that make numbers up
foreach(recipe hw3 hw4 hw7 lab5 lecture7)
  orch_cli_test(0513-no-sentence-repeated-${recipe} ${CMAKE_CURRENT_LIST_DIR}/0513-no-sentence-repeated.sh ${recipe}.recipe)
  set_tests_properties(cli.0513-no-sentence-repeated-${recipe} PROPERTIES LABELS "slow" TIMEOUT 1800)
  orch_cli_test(0536-report-fits-${recipe} ${CMAKE_CURRENT_LIST_DIR}/0536-report-fits.sh ${recipe}.recipe)
  set_tests_properties(cli.0536-report-fits-${recipe} PROPERTIES LABELS "slow" TIMEOUT 1800)
endforeach()
# wait for real seconds, train with LibTorch, or measure the machine
set_tests_properties(cli.0008-two-terminals cli.0052-paper cli.0044-budget cli.0057-classes cli.0115-final-accuracy cli.0116-best-compare cli.0093-strangers-store cli.0095-stuck-trials cli.0595-wheel PROPERTIES LABELS "slow")
# train detectors with LibTorch
set_tests_properties(cli.0481-detect cli.0482-detect-bad-input cli.0483-detect-folders cli.0485-detect-test-mode PROPERTIES LABELS "torch;slow" TIMEOUT 1200)
# run the parts of a recipe one after the other
set_tests_properties(cli.0073-part PROPERTIES LABELS "slow" TIMEOUT 1200)
# damage a store, load the machine
set_tests_properties(cli.0084-doctor cli.0111-disturbed cli.0247-forecast-of-disturbed PROPERTIES LABELS "slow")
# every command with every option, over two stores
set_tests_properties(cli.0096-hostile-rows PROPERTIES LABELS "slow" COST 600 TIMEOUT 2700)
# start MPI many times, and wait for grace periods; 0232 is the quick one
set_tests_properties(cli.0214-mpi-gradients cli.0217-asyncsgd cli.0229-mpi cli.0230-mpi-rank-ends cli.0231-mpi-stop PROPERTIES LABELS "slow" TIMEOUT 900)
# train with several workers, on processors or stand-ins for GPUs
set_tests_properties(cli.0275-scaling cli.0276-allreduce cli.0278-scaling-faults cli.0279-scaling-torch cli.0306-hierarchical-nodes cli.0307-memory-full PROPERTIES LABELS "slow" TIMEOUT 1200)
# pack, and call lintian
set_tests_properties(cli.0545-debian-packages PROPERTIES LABELS "slow")
# ten runs at once, two of them killed; clone this repository
set_tests_properties(cli.0371-slots-ten-runs cli.0395-systems PROPERTIES LABELS "slow")
# wait for the lines that build.sh writes now and then, or run it many times
set_tests_properties(cli.0390-build-progress cli.0572-kernels-where-wanted cli.0575-run-builds-what-it-needs cli.0576-build-bad-places PROPERTIES LABELS "slow")
# recompute whole reports by SciPy, make up all runs of lab 5's models
set_tests_properties(cli.0488-answers-of-kinds cli.0517-answers-of-points cli.0519-answers-in-words cli.0489-lab5-hardware cli.0549-answers-recomputed PROPERTIES LABELS "slow")
# wait for a killed command's host
set_tests_properties(cli.0365-replay-resume PROPERTIES LABELS "slow")
# run sweeps of scripts in their own folder, and again after edits: over two seconds each
set_tests_properties(cli.0451-python-figures cli.0452-pyenv cli.0454-builds cli.0456-listed-folders cli.0459-ignored-inputs cli.0493-comments-everywhere cli.0494-runner-killed cli.0496-digests-once cli.0497-artifacts-at-once cli.0498-live-references PROPERTIES LABELS "slow")
# train a network, load LibTorch in a dozen trials
set_tests_properties(cli.0522-onnxrun-trainer PROPERTIES LABELS "torch;slow")
# start SimGrid some thirty times, and wait for a limit of time
set_tests_properties(cli.0290-simcluster cli.0291-simcluster-faults PROPERTIES LABELS "slow")
# build plugins, plan in several environments
set_tests_properties(cli.0100-trust cli.0101-rebuilt cli.0102-environment PROPERTIES LABELS "slow")
# start a Jupyter kernel, a browser
set_tests_properties(cli.0121-recipe-counts cli.0123-pdf-pages cli.0124-target-set PROPERTIES LABELS "slow")
set_tests_properties(cli.0059-notebooks cli.0058-page-browser PROPERTIES LABELS "slow" TIMEOUT 900)
# type a hundred commands, rebuild, train predictors, draw: over two seconds of processor time each
set_tests_properties(cli.0020-install cli.0021-variants cli.0023-attempts cli.0025-changes cli.0029-plugin-faults cli.0031-lost-artifacts cli.0051-plot cli.0054-export cli.0086-hostile-words cli.0089-rm-undo cli.0106-refusals cli.0126-labels cli.0131-bounds cli.0132-page-circles cli.0134-recorded-facts cli.0137-stale-report PROPERTIES LABELS "slow")
# edit a script some thirty times, plan and run sweeps of it
set_tests_properties(cli.0140-script-inputs cli.0141-run-order cli.0142-command-check cli.0143-yaml-slips PROPERTIES LABELS "slow")
add_test(NAME layers COMMAND ${CMAKE_SOURCE_DIR}/tests/layers.sh ${CMAKE_SOURCE_DIR})
find_package(Python3 COMPONENTS Interpreter)
if(Python3_FOUND)
  add_test(NAME circles COMMAND ${CMAKE_SOURCE_DIR}/tests/circles.sh ${CMAKE_SOURCE_DIR})
  add_test(NAME core_words COMMAND ${CMAKE_SOURCE_DIR}/tests/core_words.sh ${CMAKE_SOURCE_DIR})
  add_test(NAME one_list COMMAND ${CMAKE_SOURCE_DIR}/tests/one_list.sh ${CMAKE_SOURCE_DIR})
  set_tests_properties(circles core_words one_list PROPERTIES LABELS quick)
endif()
add_test(NAME json_reals COMMAND ${CMAKE_SOURCE_DIR}/tests/json_reals.sh ${CMAKE_SOURCE_DIR})
add_test(NAME sql_joins COMMAND ${CMAKE_SOURCE_DIR}/tests/sql_joins.sh ${CMAKE_SOURCE_DIR})
add_test(NAME environment COMMAND ${CMAKE_SOURCE_DIR}/tests/environment.sh ${CMAKE_SOURCE_DIR})
set_tests_properties(layers json_reals sql_joins environment PROPERTIES LABELS quick)
# capture large files, hold up a store
set_tests_properties(cli.0009-plugins cli.0032-store-faults cli.0150-disturbed-setting PROPERTIES LABELS "slow")
# start Python with PyTorch, and workers of it; train with several workers
set_tests_properties(cli.0218-wrap cli.0385-horovod cli.0386-scaling-cost cli.0387-allreduce-gpus cli.0388-course-profiles cli.0389-no-process-left PROPERTIES LABELS "slow" TIMEOUT 900)
# wait for samples of system metrics, for a lost GPU, for trials side by side
set_tests_properties(cli.0233-jobs cli.0273-system-metrics cli.0296-lost-gpu cli.0024-looking cli.0256-report-time-to-accuracy cli.0281-vecadd-skeleton cli.0280-vecadd PROPERTIES LABELS "slow")
# tells trials that other programs disturbed from those that none did
set_tests_properties(cli.0247-forecast-of-disturbed PROPERTIES RUN_SERIAL ON)
# presses Tab in three shells; runs many trials with secrets; starts Python some twenty times
set_tests_properties(cli.0400-completion-shells cli.0402-python-links cli.0403-secrets PROPERTIES LABELS "slow")
# kills processes in the middle of a training
set_tests_properties(cli.0361-gorila-deaths PROPERTIES LABELS "slow")
# open a store of before some eighty times, killed at each call
set_tests_properties(cli.0531-renamed PROPERTIES LABELS "slow")
# mount a file system
set_tests_properties(cli.0399-remounted-read-only PROPERTIES LABELS "slow")
# take over a second of processor time: they train, start dozens of programs, hold up others, or fill stores
set_tests_properties(cli.0011-wrapped cli.0026-full-disk cli.0030-hostile-recipes cli.0050-report cli.0056-converged-listing cli.0074-names cli.0094-stores-of-a-repository cli.0103-git-programs cli.0130-edited-code cli.0158-what-is-skipped cli.0201-training-plugins cli.0237-which-libtorch cli.0238-build-torch cli.0246-data-path cli.0250-batch-augmentation cli.0263-only-when-named cli.0264-semisup cli.0268-source-selection cli.0274-judge cli.0295-visible-gpus cli.0301-training-bad-input cli.0310-timing-verdict cli.0320-apex cli.0325-replay cli.0360-gorila cli.0366-frame-stack cli.0374-pinning cli.0375-cpu-slots cli.0379-store-being-made cli.0391-run-needs cli.0028-neutral cli.0128-notify cli.0285-layerbench-list cli.0415-read-on-full-disk cli.0409-slots-hostile cli.0411-programs-hang cli.0418-plan-of-many cli.0422-in-place cli.0423-inputs-change cli.0424-folder-apart cli.0055-recipe-reports cli.0216-staleness cli.0242-cuda-graphs cli.0370-slots-two-runs cli.0376-slots-one-recipe cli.0393-sandbox cli.0425-same-file cli.0426-hidden-edits cli.0435-typed-values cli.0438-python-runs cli.0440-environment-wrappers cli.0462-large-folder cli.0476-same-failures cli.0477-live-line cli.0479-backtrace cli.0491-gpus-as-by-hand cli.0464-data-written cli.0467-reads-bounded cli.0468-written-outputs cli.0232-mpi-launchers PROPERTIES LABELS "slow")
# take three seconds or more each
set_tests_properties(cli.0516-no-effect cli.0520-onnxrun cli.0780-changes-at-any-instant cli.0781-who-changed-a-file cli.0783-read-data-in-a-sweep cli.0521-onnxrun-engines cli.0537-report-headings cli.0538-problems-and-notebooks cli.0596-plugin-build cli.0597-two-installations cli.0599-build-bad-machine cli.0615-installation-hints PROPERTIES LABELS "slow")
