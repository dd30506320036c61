if(ORCH_CUDA_WORKS)
  # a trial on a stand-in for the CUDA runtime, whose calls fail one after the other
  orch_test(kernel_trial "quick" orch_kernels orch_base m)
  target_sources(test_kernel_trial PRIVATE ${CMAKE_SOURCE_DIR}/plugins/gpukernels/cuda/kernel_trial.c
    ${CMAKE_SOURCE_DIR}/tests/plugins/stand_in_cuda.c)
  orch_test(kernel_references "quick" plugin_gpukernels_kernels m)
  # the kernels themselves: needs a GPU
  orch_test(gpu_kernels "gpu" plugin_gpukernels_kernels m)
  set_tests_properties(unit.gpu_kernels PROPERTIES SKIP_RETURN_CODE 77)
  foreach(test test_kernel_trial test_kernel_references test_gpu_kernels)
    target_include_directories(${test} SYSTEM PRIVATE ${CMAKE_CUDA_TOOLKIT_INCLUDE_DIRECTORIES})
    target_include_directories(${test} PRIVATE ${CMAKE_SOURCE_DIR})
  endforeach()
endif()
