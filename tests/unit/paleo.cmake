# predictors: PALEO, layer tables.
if(TARGET orch_predictors)
  orch_test(paleo "quick" orch_predictors orch_feature_paleo)
  # Every row of the reference tables; where they are not, the test says so and is skipped.
  add_executable(test_paleo_reference ${CMAKE_SOURCE_DIR}/tests/reference/test_paleo_reference.c)
  target_link_libraries(test_paleo_reference PRIVATE orch_feature_paleo)
  target_compile_definitions(test_paleo_reference PRIVATE
    ORCH_REFERENCE_DEFAULT="${CMAKE_SOURCE_DIR}/../shared/data")
  add_test(NAME reference.paleo COMMAND test_paleo_reference)
  set_tests_properties(reference.paleo PROPERTIES LABELS "reference" TIMEOUT 600
    SKIP_RETURN_CODE 77 ENVIRONMENT "ORCH_SOURCE_DIR=${CMAKE_SOURCE_DIR}")
endif()
