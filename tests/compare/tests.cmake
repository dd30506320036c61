# Two sides of runs, and whether they differ.
orch_test(contrast "quick" orch_feature_compare)
