# spaces of searches, and what chooses points in them
orch_test(space "quick" orch_space)
orch_test(observed_space "quick" orch_space)
orch_test(repeat_rule "quick" orch_space)
orch_test(param_importance "quick" orch_predictors)
