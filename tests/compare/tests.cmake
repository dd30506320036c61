# Two sides of runs, and whether they differ.
orch_test(contrast "quick" orch_feature_compare)
# The best of several settings, in a report and by itself.
orch_test(answer "quick" orch_feature_compare)
orch_test(differences "slow" orch_feature_compare) # a thousand made sweeps
orch_test(pooled "slow" orch_feature_compare)
