orch_test(run_text "quick" orch_store)
add_executable(fuzz_run_text ${CMAKE_SOURCE_DIR}/tests/fuzz/fuzz_run_text.c
               ${CMAKE_SOURCE_DIR}/tests/fuzz/replay.c)
target_link_libraries(fuzz_run_text PRIVATE orch_store)
add_test(NAME fuzz.run_text COMMAND fuzz_run_text ${CMAKE_SOURCE_DIR}/tests/fuzz/corpus/run_text)
set_tests_properties(fuzz.run_text PROPERTIES LABELS quick TIMEOUT 60)
