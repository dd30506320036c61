# samples, the team of threads, additions on the processor against a plain loop
set(vecadd ${CMAKE_SOURCE_DIR}/plugins/vecadd)
orch_test(vecadd "quick" orch_kernels orch_base m)
target_sources(test_vecadd PRIVATE ${vecadd}/summands.c ${vecadd}/cpu_add.c)
if(ORCH_CUDA_WORKS)
  # the GPU's part of the plugin on a stand-in for the CUDA runtime, whose calls fail one after the other: six seconds
  orch_test(vecadd_gpu "slow" orch_kernels orch_base m)
  file(GLOB sources CONFIGURE_DEPENDS ${vecadd}/cuda/*.c)
  target_sources(test_vecadd_gpu PRIVATE ${sources} ${vecadd}/summands.c ${vecadd}/host_memory.c ${vecadd}/reporting.c
    ${CMAKE_SOURCE_DIR}/tests/plugins/stand_in_cuda.c)
  target_include_directories(test_vecadd_gpu SYSTEM PRIVATE ${CMAKE_CUDA_TOOLKIT_INCLUDE_DIRECTORIES})
  # the kernels themselves: needs a GPU
  orch_test(gpu_vecadd "gpu" plugin_vecadd_kernels orch_kernels orch_base m)
  target_sources(test_gpu_vecadd PRIVATE ${vecadd}/summands.c)
  target_include_directories(test_gpu_vecadd SYSTEM PRIVATE ${CMAKE_CUDA_TOOLKIT_INCLUDE_DIRECTORIES})
  set_tests_properties(unit.gpu_vecadd PROPERTIES SKIP_RETURN_CODE 77)
  # the fast kernel loads and stores 16 bytes at a time: eight loads of its loop, two of the rest
  add_test(NAME cuda.vector_loads COMMAND bash -c "PTX=$('${CMAKE_CUDA_COMPILER}' -ptx -o - -I. -Iinclude plugins/vecadd/cuda/add_kernels.cu) \
    && PTX=$(sed -n '/^.entry .*add_stride/,/^}/p' <<<\"$PTX\") && [ $(grep -c 'ld.global.cs.v4.f32' <<<\"$PTX\") = 10 ] \
    && [ $(grep -c 'st.global.cs.v4.f32' <<<\"$PTX\") = 5 ]" WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  set_tests_properties(cuda.vector_loads PROPERTIES LABELS quick)
endif()
