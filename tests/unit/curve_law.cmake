# predictors: the law of a family's loss curves, how a fit is judged, which form is chosen.
orch_test(curve_law "quick" orch_predictors)
orch_test(curve_forecast "quick" orch_predictors)
