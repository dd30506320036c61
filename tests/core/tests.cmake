# The program without features: a call of core into a feature does not link.
add_executable(orch-core-alone ${CMAKE_CURRENT_LIST_DIR}/core_alone.c)
target_link_libraries(orch-core-alone PRIVATE orch_commands)
add_test(NAME core.alone COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/alone.sh)
set_tests_properties(core.alone PROPERTIES LABELS "quick" TIMEOUT 600 ENVIRONMENT "${ORCH_TEST_ENVIRONMENT};ORCH_PYTHON=${ORCH_PYTHON}")
