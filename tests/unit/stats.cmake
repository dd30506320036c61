orch_test(rank_correlation "quick" orch_stats)
orch_test(anytime "quick" orch_stats)
orch_test(sample_shape "quick" orch_stats)
orch_test(front "quick" orch_stats)
