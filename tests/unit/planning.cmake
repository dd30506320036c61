# predictors: how long a trial will take, a running one still takes, and which to measure.
orch_test(duration "quick" orch_predictors)
orch_test(remaining "quick" orch_predictors)
orch_test(design "quick" orch_predictors)
# core/run: the ledger of hours and money
orch_test(ledger "quick" orch_run)
