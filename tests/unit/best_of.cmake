# the winner's curse
orch_test(best_of "quick" orch_stats)
