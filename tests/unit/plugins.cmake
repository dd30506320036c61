# core/plugin. The plugin `moody` misbehaves on demand; it lies outside of the search path.
add_library(plugin_moody MODULE ${CMAKE_SOURCE_DIR}/tests/moody/moody.c)
set_target_properties(plugin_moody PROPERTIES PREFIX "" OUTPUT_NAME moody
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/moody)
target_include_directories(plugin_moody PRIVATE ${CMAKE_SOURCE_DIR}/include)

orch_test(manifest_yaml "quick" orch_plugins)
orch_test(plugins "slow" orch_plugins)
add_dependencies(test_plugins plugin_moody)
if(TARGET orch-host)
  add_dependencies(test_plugins orch-host)
endif()

find_program(ORCH_PYTHON3 python3)
if(ORCH_PYTHON3)
  # starts many Pythons: six seconds of processor time
  add_test(NAME python.helper
    COMMAND ${ORCH_PYTHON3} ${CMAKE_SOURCE_DIR}/tests/python/test_orch.py)
  set_tests_properties(python.helper PROPERTIES LABELS slow TIMEOUT 600
    ENVIRONMENT "ORCH_SOURCE_DIR=${CMAKE_SOURCE_DIR};PYTHONDONTWRITEBYTECODE=1")
  # kills processes and waits for recorders; facts.record is the quick one
  add_test(NAME python.record
    COMMAND ${ORCH_PYTHON3} ${CMAKE_SOURCE_DIR}/tests/python/test_record.py)
  set_tests_properties(python.record PROPERTIES LABELS slow TIMEOUT 600
    ENVIRONMENT "ORCH_SOURCE_DIR=${CMAKE_SOURCE_DIR};ORCH_BUILD_DIR=${CMAKE_BINARY_DIR};PYTHONDONTWRITEBYTECODE=1")
  # runs each script three times
  add_test(NAME python.same_record
    COMMAND ${ORCH_PYTHON3} ${CMAKE_SOURCE_DIR}/tests/python/test_same_record.py)
  set_tests_properties(python.same_record PROPERTIES LABELS slow TIMEOUT 900
    ENVIRONMENT "ORCH_SOURCE_DIR=${CMAKE_SOURCE_DIR};ORCH_BUILD_DIR=${CMAKE_BINARY_DIR};PYTHONDONTWRITEBYTECODE=1")
endif()
