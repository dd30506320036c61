# Two sides of runs, and whether they differ.
orch_test(contrast "quick" orch_feature_compare)
set_tests_properties(cli.0053-compare cli.0135-tasks-apart cli.0136-same-code cli.0191-compare-run-refusals cli.0417-compare-of-many cli.0566-until-sure
  PROPERTIES LABELS "slow")
