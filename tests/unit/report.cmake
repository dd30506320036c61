orch_test(stats "quick" orch_report)
orch_test(draw "quick" orch_report)
