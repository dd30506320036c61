# measure the machine, build plugins, plan in several environments
set_tests_properties(cli.0035-predict cli.0043-forecast cli.0147-plan-as-predict cli.0149-planned-grades cli.0151-forecast-words
  cli.0181-plain-script-predictor PROPERTIES LABELS "slow")
