# predictors: how long a trial will take.
orch_test(duration "quick" orch_predictors)
