orch_test(wire_value "quick" orch_wire)
orch_test(wire_event "quick" orch_wire)
orch_test(wire_manifest "quick" orch_wire)

# The corpus through the fuzz target; with -fsanitize=fuzzer in the driver's place it fuzzes.
add_executable(fuzz_wire ${CMAKE_SOURCE_DIR}/tests/fuzz/fuzz_wire.c
               ${CMAKE_SOURCE_DIR}/tests/fuzz/replay.c)
target_link_libraries(fuzz_wire PRIVATE orch_wire)
add_test(NAME fuzz.wire COMMAND fuzz_wire ${CMAKE_SOURCE_DIR}/tests/fuzz/corpus/wire)
set_tests_properties(fuzz.wire PROPERTIES LABELS quick TIMEOUT 60)
