orch_test(recipe "quick" orch_recipe)
