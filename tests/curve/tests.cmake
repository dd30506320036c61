set_tests_properties(cli.0040-curve PROPERTIES LABELS "slow")
