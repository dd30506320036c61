orch_test(pack "quick" orch_feature_pack)
