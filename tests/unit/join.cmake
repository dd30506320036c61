# Joining stores: laws of a union, and files that nobody vouches for.
orch_test(join "quick" orch_store)
orch_test(join_hostile "quick" orch_store)
add_executable(bench_store_join ${CMAKE_SOURCE_DIR}/bench/store_join.c)
target_link_libraries(bench_store_join PRIVATE orch_store)
