orch_test(store "quick" orch_store)

add_executable(bench_store_metrics ${CMAKE_SOURCE_DIR}/bench/store_metrics.c)
target_link_libraries(bench_store_metrics PRIVATE orch_store)
