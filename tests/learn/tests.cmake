# train predictors
set_tests_properties(cli.0037-predictor cli.0041-learn-answers cli.0045-tiers PROPERTIES LABELS "slow")
# take three seconds or more each
set_tests_properties(cli.0626-boards-of-a-chip cli.0627-kept-by-another-method cli.0636-more-gpus cli.0637-batch-of-all-gpus cli.0639-families-of-networks PROPERTIES LABELS "slow")
