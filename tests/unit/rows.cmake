# core/run: rows to learn from, and measurements from elsewhere.
if(TARGET orch_run)
  orch_test(rows "quick" orch_run)
  add_test(NAME reference.import COMMAND bash ${CMAKE_SOURCE_DIR}/tests/reference/import.sh)
  set_tests_properties(reference.import PROPERTIES LABELS "reference" TIMEOUT 120
    SKIP_RETURN_CODE 77
    ENVIRONMENT "ORCH_SOURCE_DIR=${CMAKE_SOURCE_DIR};ORCH_BUILD_DIR=${CMAKE_BINARY_DIR}")
  add_executable(fuzz_import ${CMAKE_SOURCE_DIR}/tests/fuzz/fuzz_import.c
    ${CMAKE_SOURCE_DIR}/tests/fuzz/replay.c)
  target_link_libraries(fuzz_import PRIVATE orch_run)
  add_test(NAME fuzz.import COMMAND fuzz_import ${CMAKE_SOURCE_DIR}/tests/fuzz/corpus/import)
  set_tests_properties(fuzz.import PROPERTIES LABELS "quick" TIMEOUT 60)
endif()
