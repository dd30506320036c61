orch_test(recipe "quick" orch_recipe)

orch_fuzz(recipe orch_recipe)
