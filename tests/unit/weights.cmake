orch_test(weights "quick" orch_weights)

# The same test on files that the installed PyTorch writes now.
add_test(NAME weights.fresh COMMAND ${CMAKE_SOURCE_DIR}/tests/weights/fresh.sh
         $<TARGET_FILE:test_weights>)
set_tests_properties(weights.fresh PROPERTIES LABELS torch TIMEOUT 120 SKIP_RETURN_CODE 77
  ENVIRONMENT "ORCH_SOURCE_DIR=${CMAKE_SOURCE_DIR}")

# The corpora through the fuzz targets; with -fsanitize=fuzzer in the driver's place they fuzz.
foreach(part pth safetensors)
  add_executable(fuzz_${part} ${CMAKE_SOURCE_DIR}/tests/fuzz/fuzz_${part}.c
                 ${CMAKE_SOURCE_DIR}/tests/fuzz/replay.c)
  target_link_libraries(fuzz_${part} PRIVATE orch_weights)
  add_test(NAME fuzz.${part} COMMAND fuzz_${part} ${CMAKE_SOURCE_DIR}/tests/fuzz/corpus/${part}
           ${CMAKE_SOURCE_DIR}/tests/data/weights)
  set_tests_properties(fuzz.${part} PROPERTIES LABELS quick TIMEOUT 60)
endforeach()
