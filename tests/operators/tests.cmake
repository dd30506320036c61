orch_test(operators "quick" orch_feature_operators)
orch_fuzz(operators orch_feature_operators)

# Models that the installed PyTorch exports, against the zoo's networks.
add_test(NAME operators.torch COMMAND ${CMAKE_CURRENT_LIST_DIR}/torch.sh $<TARGET_FILE:orch>)
set_tests_properties(operators.torch PROPERTIES LABELS "torch;slow" COST 60 TIMEOUT 900 SKIP_RETURN_CODE 77
  ENVIRONMENT "${ORCH_TEST_ENVIRONMENT}")
# Modules of torch.nn, against PyTorch's FlopCounterMode or its counts in modules.tsv.
add_test(NAME operators.modules COMMAND ${CMAKE_CURRENT_LIST_DIR}/torch.sh $<TARGET_FILE:orch> torch_modules.py)
set_tests_properties(operators.modules PROPERTIES LABELS "torch;slow" COST 60 TIMEOUT 900 SKIP_RETURN_CODE 77
  ENVIRONMENT "${ORCH_TEST_ENVIRONMENT}")
