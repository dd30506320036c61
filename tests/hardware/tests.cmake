# Measures this machine.
orch_test(measure "slow" orch_feature_hardware) # several products of large matrices
