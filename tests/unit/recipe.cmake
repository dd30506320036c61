orch_test(recipe "quick" orch_recipe)

# The corpus through the fuzz target; built with -fsanitize=fuzzer in replay.c's place it fuzzes.
add_executable(fuzz_recipe ${CMAKE_SOURCE_DIR}/tests/fuzz/fuzz_recipe.c
               ${CMAKE_SOURCE_DIR}/tests/fuzz/replay.c)
target_link_libraries(fuzz_recipe PRIVATE orch_recipe)
add_test(NAME fuzz.recipe COMMAND fuzz_recipe ${CMAKE_SOURCE_DIR}/tests/fuzz/corpus/recipe)
set_tests_properties(fuzz.recipe PROPERTIES LABELS quick TIMEOUT 60)
