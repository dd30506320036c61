# The runner killed at random instants: 40 kills in each of five phases.
add_test(NAME fault.kill_runner
  COMMAND python3 ${CMAKE_SOURCE_DIR}/tests/fault/kill_runner.py ${CMAKE_BINARY_DIR} 40)
set_tests_properties(fault.kill_runner PROPERTIES LABELS "slow" TIMEOUT 600 RUN_SERIAL ON)
