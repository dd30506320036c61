# core/plan: what a script's text says that it uses
orch_test(script_uses "quick" orch_inputs)
