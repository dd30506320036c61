set_tests_properties(cli.0040-curve PROPERTIES LABELS "slow")
# take three seconds or more each
set_tests_properties(cli.0540-equal-curves cli.0601-curve-forecasts PROPERTIES LABELS "slow")
