orch_test(run_text "quick" orch_store)
orch_fuzz(run_text orch_store)
