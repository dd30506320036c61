# Programs behind the measurements in bench/.
add_executable(bench_store_fill ${CMAKE_SOURCE_DIR}/bench/store_fill.c)
target_link_libraries(bench_store_fill PRIVATE orch_store)
if(TARGET orch_predictors)
  add_executable(bench_paleo_rows ${CMAKE_SOURCE_DIR}/bench/paleo_rows.c)
  target_link_libraries(bench_paleo_rows PRIVATE orch_predictors)
  add_executable(bench_justus ${CMAKE_SOURCE_DIR}/bench/justus.c)
  target_link_libraries(bench_justus PRIVATE orch_predictors)
endif()
