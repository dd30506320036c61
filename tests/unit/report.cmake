orch_test(stats "quick" orch_report)
orch_test(contrast "quick" orch_report)
