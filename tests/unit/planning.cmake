# predictors: how long a trial will take, and a running one still takes.
orch_test(duration "quick" orch_predictors)
orch_test(remaining "quick" orch_predictors)
