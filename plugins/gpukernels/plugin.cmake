orch_plugin(gpukernels orch_kernels orch_base m)
orch_plugin_cuda(gpukernels)
