orch_test(contrast "quick" orch_stats orch_render)
