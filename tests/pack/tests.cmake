# Packs, and the points of an assignment.
orch_test(pack "quick" orch_feature_pack)
orch_test(points "quick" orch_feature_pack orch_yaml)
# packs of whole classes
set_tests_properties(cli.0078-pack cli.0079-verify-tampered cli.0080-verify-hostile cli.0081-verify-class cli.0107-hand-in-zip
  PROPERTIES LABELS "slow" TIMEOUT 1200)
# packs, verified and run again; plans and runs of an edited script
set_tests_properties(cli.0144-what-is-open cli.0203-pack-rest PROPERTIES LABELS "slow")
