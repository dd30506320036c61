orch_test(recording "quick" orch_feature_record)
