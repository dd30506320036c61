orch_test(claims "quick" orch_exchange)
