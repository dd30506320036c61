# train predictors
set_tests_properties(cli.0037-predictor cli.0041-learn-answers cli.0045-tiers PROPERTIES LABELS "slow")
