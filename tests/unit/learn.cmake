# predictors: models that learn.
orch_test(learn "slow" orch_predictors)
orch_test(trained "slow" orch_predictors)
orch_test(trained_method "quick" orch_predictors)
orch_test(features "quick" orch_predictors)
orch_test(mixture "slow" orch_predictors)
orch_test(gpu_transfer "quick" orch_predictors)
orch_test(matched_rows "quick" orch_predictors)
orch_test(matched_effects "quick" orch_predictors)
orch_test(conformal "quick" orch_predictors)
foreach(name mixture trained) # what of them takes seconds
  add_test(NAME unit.${name}_slow COMMAND test_${name} slow WORKING_DIRECTORY ${CMAKE_BINARY_DIR})
  set_tests_properties(unit.${name}_slow PROPERTIES LABELS "slow" TIMEOUT 600
    ENVIRONMENT "${ORCH_TEST_ENVIRONMENT}")
endforeach()
orch_test(nearness "quick" orch_predictors)
orch_test(trees "quick" orch_predictors)
orch_test(matrix_coder "quick" orch_predictors)
