# Packs, and the points of an assignment.
orch_test(pack "quick" orch_feature_pack)
orch_test(points "quick" orch_feature_pack orch_yaml)
# archives of strangers
orch_fuzz(zip orch_feature_pack)
