orch_test(store "quick" orch_store)
orch_test(listing "quick" orch_store)
orch_test(store_digest "quick" orch_store)
orch_test(store_open "quick" orch_store)
orch_test(store_hostile "quick" orch_store)
orch_test(store_where "quick" orch_store)
orch_test(store_maintenance "quick" orch_store)
orch_test(store_dataset "quick" orch_store)
orch_test(store_repair "slow" orch_store)
orch_test(store_shards "slow" orch_store)

add_test(NAME fault.store_repair COMMAND test_store_repair all)
set_tests_properties(fault.store_repair PROPERTIES LABELS "slow" COST 500 TIMEOUT 1800)

# tests/data/store-v1.db was written by it (and store-v1-before-release.db by it before columns were renamed); a new schema
# version gets a file of its own
add_executable(make_golden_store ${CMAKE_SOURCE_DIR}/tests/store/make_golden.c)
target_link_libraries(make_golden_store PRIVATE orch_store PkgConfig::CMOCKA)
find_package(Python3 COMPONENTS Interpreter)
if(Python3_FOUND)
  add_test(NAME unit.store_digest_v1_py
           COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/tests/store/digest_v1.py
                   ${CMAKE_SOURCE_DIR}/tests/data/store-v1.db 2)
  set_tests_properties(unit.store_digest_v1_py PROPERTIES LABELS "quick" TIMEOUT 600)
endif()

add_executable(bench_store_metrics ${CMAKE_SOURCE_DIR}/bench/store_metrics.c)
target_link_libraries(bench_store_metrics PRIVATE orch_store)
add_executable(bench_store_runs ${CMAKE_SOURCE_DIR}/bench/store_runs.c)
target_link_libraries(bench_store_runs PRIVATE orch_store)
add_test(NAME bench.store_runs COMMAND bench_store_runs --runs 30000 --most-share 0.5)
set_tests_properties(bench.store_runs PROPERTIES LABELS "slow" TIMEOUT 600)

foreach(fault store_fault store_crowd)
  add_executable(test_${fault} ${CMAKE_SOURCE_DIR}/tests/fault/test_${fault}.c)
  target_link_libraries(test_${fault} PRIVATE orch_store PkgConfig::CMOCKA)
  add_test(NAME fault.${fault} COMMAND test_${fault})
  set_tests_properties(fault.${fault} PROPERTIES LABELS "slow" COST 450 TIMEOUT 900)
endforeach()
