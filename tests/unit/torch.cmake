# what needs no LibTorch
orch_test(updates "quick" orch_torch)
target_sources(test_updates PRIVATE ${CMAKE_SOURCE_DIR}/plugins/common/torch/adapter/update_loops.c)
target_link_libraries(test_updates PRIVATE m)
set_source_files_properties(${CMAKE_SOURCE_DIR}/plugins/common/torch/adapter/update_loops.c
  PROPERTIES COMPILE_OPTIONS "-O3;-ffp-contract=off;-fno-math-errno;-fno-trapping-math")
if(TARGET orch_torch_adapter)
  orch_test(torch "torch" orch_torch)
  add_dependencies(test_torch orch_torch_adapter)
  set_tests_properties(unit.torch PROPERTIES TIMEOUT 300)
  orch_test(gradients "torch" orch_torch)
  add_dependencies(test_gradients orch_torch_adapter)
  orch_test(torch_optimizers "torch" orch_torch m)
  add_dependencies(test_torch_optimizers orch_torch_adapter)
  set_tests_properties(unit.torch_optimizers PROPERTIES TIMEOUT 300)
endif()
# holds the engine to the numbers that it gave before
if(TARGET orch_torch_adapter)
  add_executable(losses ${CMAKE_SOURCE_DIR}/tests/torch/losses.c)
  target_include_directories(losses PRIVATE ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/include)
  target_link_libraries(losses PRIVATE orch_training)
  add_dependencies(losses orch_torch_adapter)
  add_test(NAME torch.losses COMMAND ${CMAKE_SOURCE_DIR}/tests/torch/losses.py
    $<TARGET_FILE:losses> ${CMAKE_SOURCE_DIR}/tests/torch/losses.txt)
  set_tests_properties(torch.losses PROPERTIES LABELS "torch;slow" TIMEOUT 1200
    ENVIRONMENT "${ORCH_TEST_ENVIRONMENT};ORCH_TORCH=$<TARGET_FILE:orch_torch_adapter>")
endif()
