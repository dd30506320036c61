# predictors: models that learn.
orch_test(learn "quick" orch_predictors)
