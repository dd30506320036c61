orch_plugin(vecadd orch_kernels orch_base m)
orch_plugin_cuda(vecadd)
# nothing of these loops is vectorised at -O2 by older compilers
set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/cpu_add.c ${CMAKE_CURRENT_LIST_DIR}/summands.c
  PROPERTIES SKIP_PRECOMPILE_HEADERS ON COMPILE_OPTIONS "-O3;-ffp-contract=off;-fno-math-errno;-fno-trapping-math")
