orch_test(formula "quick" orch_base)
orch_test(answer "quick" orch_report)
orch_test(points "quick" orch_feature_pack orch_yaml)
