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
file(GLOB scripts CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/[0-9]*.sh)
list(REMOVE_ITEM scripts ${CMAKE_CURRENT_LIST_DIR}/0027-recipes.sh)
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
# wait for real seconds, train with LibTorch, or measure the machine
set_tests_properties(cli.0008-two-terminals cli.0052-paper cli.0036-bench cli.0043-forecast cli.0044-budget cli.0057-classes cli.0115-final-accuracy cli.0116-best-compare cli.0070-share cli.0071-share-trouble cli.0090-share-hosts cli.0093-strangers-store cli.0095-stuck-trials
  PROPERTIES LABELS "slow")
# share among several clones, pushers at once, packs of whole classes; 0060, 0063 and 0067 are the quick ones
set_tests_properties(cli.0064-bundles cli.0066-push-pull cli.0068-push-hostile cli.0069-push-places cli.0072-coverage
  cli.0073-part cli.0078-pack cli.0079-verify-tampered cli.0080-verify-hostile cli.0081-verify-class cli.0107-hand-in-zip
  PROPERTIES LABELS "slow" TIMEOUT 1200)
# keys are made, a store is damaged, two hosts hold locks, a hostile member's thousand refs
set_tests_properties(cli.0075-signatures cli.0077-allowance cli.0082-repair cli.0084-doctor cli.0087-hostile-worth
  cli.0088-hostile-refs cli.0111-disturbed cli.0247-forecast-of-disturbed PROPERTIES LABELS "slow")
# every command with every option, over two stores
set_tests_properties(cli.0096-hostile-rows cli.0098-two-pulls PROPERTIES LABELS "slow" TIMEOUT 2700)
# start MPI many times, and wait for grace periods; 0232 is the quick one
set_tests_properties(cli.0214-mpi-gradients cli.0217-asyncsgd cli.0229-mpi cli.0230-mpi-rank-ends cli.0231-mpi-stop PROPERTIES LABELS "slow" TIMEOUT 900)
# train with several workers, on processors or stand-ins for GPUs
set_tests_properties(cli.0275-scaling cli.0276-allreduce cli.0278-scaling-faults cli.0279-scaling-torch cli.0306-hierarchical-nodes cli.0307-memory-full PROPERTIES LABELS "slow" TIMEOUT 1200)
# imports the clouds' own packages, where they are installed
set_tests_properties(cli.0357-export-job-reference PROPERTIES LABELS "reference" ENVIRONMENT "${ORCH_TEST_ENVIRONMENT}")
# ten runs at once, two of them killed; clone this repository
set_tests_properties(cli.0371-slots-ten-runs cli.0395-systems PROPERTIES LABELS "slow")
# waits for the lines that build.sh writes now and then
set_tests_properties(cli.0390-build-progress PROPERTIES LABELS "slow")
# run jobs in copies of a repository, and stop one; wait for a killed command's host
set_tests_properties(cli.0356-export-job-runs cli.0358-allowance-in-progress cli.0365-replay-resume PROPERTIES LABELS "slow")
# start SimGrid some thirty times, and wait for a limit of time
set_tests_properties(cli.0290-simcluster cli.0291-simcluster-faults PROPERTIES LABELS "slow")
# build plugins, plan in several environments
set_tests_properties(cli.0149-planned-grades cli.0100-trust cli.0101-rebuilt cli.0102-environment PROPERTIES LABELS "slow")
# start a Jupyter kernel, a browser
set_tests_properties(cli.0121-recipe-counts cli.0122-page-curves cli.0123-pdf-pages cli.0124-target-set PROPERTIES LABELS "slow")
set_tests_properties(cli.0059-notebooks cli.0058-page-browser PROPERTIES LABELS "slow" TIMEOUT 900)
# type a hundred commands, rebuild, train predictors, draw: over two seconds of processor time each
set_tests_properties(cli.0020-install cli.0021-variants cli.0023-attempts cli.0025-changes cli.0029-plugin-faults cli.0031-lost-artifacts
  cli.0035-predict cli.0037-predictor cli.0040-curve cli.0041-learn-answers cli.0042-import cli.0045-tiers cli.0051-plot cli.0053-compare cli.0054-export
  cli.0086-hostile-words cli.0089-rm-undo cli.0106-refusals cli.0126-labels cli.0127-import-runs cli.0131-bounds cli.0132-page-circles cli.0133-git-settings cli.0134-recorded-facts cli.0135-tasks-apart cli.0137-stale-report PROPERTIES LABELS "slow")
# edit a script some thirty times, plan and run sweeps of it
set_tests_properties(cli.0140-script-inputs cli.0141-run-order cli.0142-command-check cli.0143-yaml-slips cli.0144-what-is-open PROPERTIES LABELS "slow")
add_test(NAME layers COMMAND ${CMAKE_SOURCE_DIR}/tests/layers.sh ${CMAKE_SOURCE_DIR})
find_package(Python3 COMPONENTS Interpreter)
if(Python3_FOUND)
  add_test(NAME circles COMMAND ${CMAKE_SOURCE_DIR}/tests/circles.sh ${CMAKE_SOURCE_DIR})
  add_test(NAME layer_calls COMMAND ${CMAKE_SOURCE_DIR}/tests/layer_calls.sh ${CMAKE_SOURCE_DIR})
  set_tests_properties(circles layer_calls PROPERTIES LABELS quick)
endif()
add_test(NAME json_reals COMMAND ${CMAKE_SOURCE_DIR}/tests/json_reals.sh ${CMAKE_SOURCE_DIR})
set_tests_properties(layers json_reals PROPERTIES LABELS quick)
# packs, verified and run again; large files are captured
set_tests_properties(cli.0203-pack-rest cli.0204-exchange-faults cli.0009-plugins cli.0032-store-faults cli.0150-disturbed-setting
  cli.0181-plain-script-predictor PROPERTIES LABELS "slow")
# start Python with PyTorch, and workers of it; train with several workers
set_tests_properties(cli.0218-wrap cli.0385-horovod cli.0386-scaling-cost cli.0387-allreduce-gpus cli.0388-course-profiles cli.0389-no-process-left PROPERTIES LABELS "slow" TIMEOUT 900)
# a matrix of some thirty submissions; a real slurmctld, slurmd and slurmdbd. unit.slurm_states is the quick one
set_tests_properties(cli.0342-slurm-verdicts cli.0343-slurm-real cli.0377-slurm-accounts cli.0380-slurm-mpi PROPERTIES LABELS "slow" TIMEOUT 900)
# these mostly wait for Slurm's own intervals: started first, they wait beside tests that compute
set_tests_properties(cli.0377-slurm-accounts PROPERTIES COST 2000)
set_tests_properties(cli.0342-slurm-verdicts cli.0343-slurm-real cli.0380-slurm-mpi PROPERTIES COST 600)
# wait for samples of system metrics, for a lost GPU, for trials side by side; grade many jobs
set_tests_properties(cli.0233-jobs cli.0273-system-metrics cli.0296-lost-gpu cli.0378-slurm-grades cli.0024-looking cli.0202-page-answers cli.0256-report-time-to-accuracy
  cli.0281-vecadd-skeleton cli.0280-vecadd PROPERTIES LABELS "slow")
# tells trials that other programs disturbed from those that none did
set_tests_properties(cli.0247-forecast-of-disturbed PROPERTIES RUN_SERIAL ON)
# presses Tab in three shells; opens hundreds of connections; runs many trials with secrets; starts Python some twenty times
set_tests_properties(cli.0400-completion-shells cli.0401-serve-crowd cli.0402-python-links cli.0403-secrets PROPERTIES LABELS "slow")
# kills processes in the middle of a training
set_tests_properties(cli.0361-gorila-deaths PROPERTIES LABELS "slow")
# kill a command some twenty times; mount a file system
set_tests_properties(cli.0397-kill-collect cli.0398-kill-serve cli.0399-remounted-read-only PROPERTIES LABELS "slow")
# take over a second of processor time: they train, start dozens of programs, hold up others, or fill stores
set_tests_properties(cli.0011-wrapped cli.0026-full-disk cli.0030-hostile-recipes cli.0050-report cli.0056-converged-listing cli.0074-names
  cli.0091-first-steps cli.0094-stores-of-a-repository cli.0103-git-programs cli.0130-edited-code cli.0136-same-code cli.0147-plan-as-predict
  cli.0151-forecast-words cli.0158-what-is-skipped cli.0191-compare-run-refusals cli.0201-training-plugins cli.0237-which-libtorch
  cli.0238-build-torch cli.0246-data-path cli.0250-batch-augmentation cli.0263-only-when-named cli.0264-semisup cli.0268-source-selection
  cli.0274-judge cli.0295-visible-gpus cli.0301-training-bad-input cli.0310-timing-verdict cli.0320-apex cli.0325-replay cli.0340-slurm-submit
  cli.0341-slurm-collect cli.0360-gorila cli.0366-frame-stack cli.0374-pinning cli.0375-cpu-slots cli.0379-store-being-made cli.0391-run-needs
  cli.0028-neutral cli.0128-notify cli.0285-layerbench-list cli.0415-read-on-full-disk cli.0409-slots-hostile cli.0410-slurm-no-answer cli.0411-programs-hang cli.0417-compare-of-many cli.0418-plan-of-many cli.0419-import-values
  cli.0422-in-place cli.0423-inputs-change cli.0424-folder-apart cli.0055-recipe-reports cli.0216-staleness cli.0242-cuda-graphs
  cli.0370-slots-two-runs cli.0376-slots-one-recipe cli.0381-two-allowances cli.0393-sandbox cli.0425-same-file cli.0426-hidden-edits
  cli.0435-typed-values cli.0438-python-runs cli.0440-environment-wrappers cli.0462-large-folder cli.0476-same-failures cli.0477-live-line
  cli.0479-backtrace cli.0491-gpus-as-by-hand cli.0464-data-written cli.0467-reads-bounded cli.0468-written-outputs cli.0232-mpi-launchers PROPERTIES LABELS "slow")
