orch_test(contrast "quick" orch_report)
