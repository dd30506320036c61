orch_test(formula "quick" orch_base)
