# The ledger of hours and money.
orch_test(ledger "quick" orch_feature_cost)
