# predictors: the law of a family's loss curves, how a fit is judged, which form is chosen.
orch_test(curve_law "quick" orch_predictors)
