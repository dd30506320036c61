orch_test(weights "slow" orch_weights)

# The same test on files that the installed PyTorch writes now.
add_test(NAME weights.fresh COMMAND ${CMAKE_SOURCE_DIR}/tests/weights/fresh.sh
         $<TARGET_FILE:test_weights>)
set_tests_properties(weights.fresh PROPERTIES LABELS torch TIMEOUT 600 SKIP_RETURN_CODE 77
  ENVIRONMENT "ORCH_SOURCE_DIR=${CMAKE_SOURCE_DIR}")
