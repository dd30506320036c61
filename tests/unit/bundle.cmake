# Items, bundles of them, and a folder of bundles.
orch_test(bundle "slow" orch_exchange)
orch_test(folder "quick" orch_exchange)
add_executable(fuzz_bundle ${CMAKE_SOURCE_DIR}/tests/fuzz/fuzz_bundle.c
               ${CMAKE_SOURCE_DIR}/tests/fuzz/replay.c)
target_link_libraries(fuzz_bundle PRIVATE orch_exchange)
add_test(NAME fuzz.bundle COMMAND fuzz_bundle ${CMAKE_SOURCE_DIR}/tests/fuzz/corpus/bundle)
set_tests_properties(fuzz.bundle PROPERTIES LABELS quick TIMEOUT 60)
