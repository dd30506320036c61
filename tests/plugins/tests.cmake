# Plugins that misbehave, built for tests only, and the test of orch-host on them.
set(bad_plugins ${CMAKE_BINARY_DIR}/tests/plugins)

function(orch_bad_plugin name source)
  add_library(bad_${name} MODULE ${CMAKE_SOURCE_DIR}/tests/plugins/${source})
  set_target_properties(bad_${name} PROPERTIES PREFIX "" OUTPUT_NAME ${name}
    LIBRARY_OUTPUT_DIRECTORY ${bad_plugins})
  target_include_directories(bad_${name} PRIVATE ${CMAKE_SOURCE_DIR}/include)
  target_compile_definitions(bad_${name} PRIVATE "NAME=\"${name}\"" ${ARGN})
endfunction()

orch_bad_plugin(misbehave misbehave.c)
orch_bad_plugin(bad_abi unloadable.c BAD_ABI)
orch_bad_plugin(bad_magic unloadable.c BAD_MAGIC)
orch_bad_plugin(short_struct unloadable.c SHORT_STRUCT)
orch_bad_plugin(short_stride unloadable.c SHORT_STRIDE)
orch_bad_plugin(no_symbol unloadable.c NO_SYMBOL)
orch_bad_plugin(next_major unloadable.c NEXT_MAJOR)
orch_bad_plugin(undefined_symbol unloadable.c UNDEFINED_SYMBOL)
orch_bad_plugin(crash_load unloadable.c CRASH_LOAD)
orch_bad_plugin(no_run unloadable.c NO_RUN)
orch_bad_plugin(late_param unloadable.c LATE_PARAM)
target_compile_options(bad_no_run PRIVATE -Wno-unused-function)

add_executable(test_host ${CMAKE_SOURCE_DIR}/tests/plugins/test_host.c)
target_link_libraries(test_host PRIVATE orch_wire PkgConfig::CMOCKA)
add_dependencies(test_host orch-host plugin_null plugin_sleep bad_misbehave bad_bad_abi bad_bad_magic bad_crash_load
  bad_short_struct bad_short_stride bad_no_symbol bad_next_major bad_undefined_symbol bad_no_run
  bad_late_param)
add_test(NAME host.trials COMMAND test_host WORKING_DIRECTORY ${CMAKE_BINARY_DIR})
set_tests_properties(host.trials PROPERTIES LABELS quick TIMEOUT 120 ENVIRONMENT
  "ORCH_SOURCE_DIR=${CMAKE_SOURCE_DIR};ORCH_BUILD_DIR=${CMAKE_BINARY_DIR}")

add_test(NAME host.needed COMMAND sh ${CMAKE_SOURCE_DIR}/tests/plugins/needed.sh
  $<TARGET_FILE:orch-host>)
set_tests_properties(host.needed PROPERTIES LABELS quick)
