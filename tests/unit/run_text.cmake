orch_test(run_text "quick" orch_store)
