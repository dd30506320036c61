# core/plan: files that the text of a Python script names
orch_test(script_data "quick" orch_inputs)
