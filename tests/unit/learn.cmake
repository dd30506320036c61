# predictors: models that learn.
orch_test(learn "quick" orch_predictors)
orch_test(trained "quick" orch_predictors)
orch_test(features "quick" orch_predictors)
orch_test(mixture "quick" orch_predictors)
orch_test(nearness "quick" orch_predictors)
orch_test(trees "quick" orch_predictors)
