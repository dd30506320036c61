orch_test(stats "quick" orch_report)
