# core/recipe: words of a command that name files which it writes
orch_test(output_words "quick" orch_recipe)
