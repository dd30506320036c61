# The pure part of plugin sourcesel; experiments.source-selection has the rest.
add_library(sourcesel_pure STATIC ${CMAKE_SOURCE_DIR}/plugins/sourcesel/pseudo_labels.c
  ${CMAKE_SOURCE_DIR}/plugins/sourcesel/source_divergence.c
  ${CMAKE_SOURCE_DIR}/plugins/sourcesel/source_sets.c)
target_include_directories(sourcesel_pure PUBLIC ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/include)
target_link_libraries(sourcesel_pure PUBLIC orch_base m)
orch_test(sourcesel "quick" sourcesel_pure)
# Every reference pair; where they are not, the test says so and is skipped.
add_executable(test_divergence_reference ${CMAKE_SOURCE_DIR}/tests/reference/test_divergence_reference.c)
target_link_libraries(test_divergence_reference PRIVATE sourcesel_pure)
target_compile_definitions(test_divergence_reference PRIVATE
  ORCH_REFERENCE_DEFAULT="${CMAKE_SOURCE_DIR}/../shared/data")
add_test(NAME reference.divergence COMMAND test_divergence_reference)
set_tests_properties(reference.divergence PROPERTIES LABELS "reference" TIMEOUT 60 SKIP_RETURN_CODE 77)
