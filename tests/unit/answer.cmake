orch_test(formula "quick" orch_base)
orch_test(answer "quick" orch_answer)
orch_test(points "quick" orch_answer orch_yaml)
