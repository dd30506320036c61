# Programs behind the measurements in bench/.
add_executable(bench_store_fill ${CMAKE_SOURCE_DIR}/bench/store_fill.c)
target_link_libraries(bench_store_fill PRIVATE orch_store)
