orch_test(formula "quick" orch_base)
orch_test(answer "quick" orch_report)
