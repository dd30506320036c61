# values that some runs never reach; quotients of two means
orch_test(censored "quick" orch_feature_scaling)
orch_test(quotient "quick" orch_feature_scaling)
