orch_test(censored "quick" orch_stats)
orch_test(rank_correlation "quick" orch_stats)
orch_test(quotient "quick" orch_stats)
orch_test(anytime "quick" orch_stats)
