orch_test(data_get "slow" orch_feature_datasets)
set_tests_properties(unit.data_get PROPERTIES SKIP_RETURN_CODE 77)
