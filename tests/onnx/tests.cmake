orch_test(onnx "quick" orch_feature_onnx)
orch_test(onnx_constants "quick" orch_feature_onnx)

# Models that the installed PyTorch writes, against the zoo's networks.
add_executable(print_onnx ${CMAKE_CURRENT_LIST_DIR}/print_onnx.c)
target_link_libraries(print_onnx PRIVATE orch_feature_onnx)
add_test(NAME onnx.torch COMMAND ${CMAKE_CURRENT_LIST_DIR}/torch.sh $<TARGET_FILE:print_onnx>)
# one thread, as all tests: more would wait for each other's turns
set_tests_properties(onnx.torch PROPERTIES LABELS "torch;slow" COST 900 TIMEOUT 1800 SKIP_RETURN_CODE 77
  ENVIRONMENT "${ORCH_TEST_ENVIRONMENT}")

# Exported networks against LibTorch's forward pass, by the checker of the module onnx.
if(TARGET orch_torch_adapter)
  add_executable(torch_forward ${CMAKE_CURRENT_LIST_DIR}/torch_forward.c)
  target_link_libraries(torch_forward PRIVATE orch_torch)
  add_dependencies(torch_forward orch_torch_adapter)
  add_test(NAME onnx.export COMMAND ${CMAKE_CURRENT_LIST_DIR}/export.sh $<TARGET_FILE:orch> $<TARGET_FILE:torch_forward> --small)
  set_tests_properties(onnx.export PROPERTIES LABELS "torch;slow" COST 400 TIMEOUT 3600 SKIP_RETURN_CODE 77
    ENVIRONMENT "${ORCH_TEST_ENVIRONMENT};ORCH_TORCH=$<TARGET_FILE:orch_torch_adapter>")
endif()


orch_fuzz(onnx orch_feature_onnx)
