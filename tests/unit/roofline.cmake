# predictors: roofline, exchanges, graphs as layer tables; the hardware tables they read.
orch_test(roofline "quick" orch_predictors orch_hw)
orch_test(transfer "quick" orch_predictors orch_hw)
orch_test(kernel_times "quick" orch_predictors orch_hw)
orch_test(tensor_kernels "quick" orch_predictors orch_hw)
