# store/exchange: trees of results in a git repository
orch_test(results_tree "quick" orch_exchange)
