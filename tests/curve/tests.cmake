# Loss curves, isotonic fits, Optimus' speed models; the law of a family's curves, how a fit is judged, which form is chosen.
foreach(name optimus curve_law curve_forecast)
  orch_test(${name} "quick" orch_feature_curve)
endforeach()
# Every reference case; where they are not, the test says so and is skipped.
add_executable(test_optimus_reference ${CMAKE_SOURCE_DIR}/tests/reference/test_optimus_reference.c)
target_link_libraries(test_optimus_reference PRIVATE orch_feature_curve)
target_compile_definitions(test_optimus_reference PRIVATE
  ORCH_REFERENCE_DEFAULT="${CMAKE_SOURCE_DIR}/../shared/data")
add_test(NAME reference.optimus COMMAND test_optimus_reference)
set_tests_properties(reference.optimus PROPERTIES LABELS "reference" TIMEOUT 600
  SKIP_RETURN_CODE 77)
