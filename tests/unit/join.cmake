# Joining stores: laws of a union, and files that nobody vouches for.
orch_test(join "quick" orch_store)
orch_test(join_hostile "quick" orch_store)
add_executable(bench_store_join ${CMAKE_SOURCE_DIR}/bench/store_join.c)
target_link_libraries(bench_store_join PRIVATE orch_store)
# The corpus through the fuzz target; built with -fsanitize=fuzzer in replay.c's place it fuzzes.
add_executable(fuzz_merge ${CMAKE_SOURCE_DIR}/tests/fuzz/fuzz_merge.c
               ${CMAKE_SOURCE_DIR}/tests/fuzz/replay.c)
target_link_libraries(fuzz_merge PRIVATE orch_store)
add_test(NAME fuzz.merge COMMAND fuzz_merge ${CMAKE_SOURCE_DIR}/tests/fuzz/corpus/merge)
set_tests_properties(fuzz.merge PROPERTIES LABELS "quick" TIMEOUT 60)
