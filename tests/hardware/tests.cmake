# Measures this machine.
orch_test(measure "slow" orch_feature_hardware) # several products of large matrices
set_tests_properties(cli.0036-bench PROPERTIES LABELS "slow")
