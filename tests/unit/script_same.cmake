# core/plan: two versions of a Python script without their comments
orch_test(script_same "quick" orch_inputs)
