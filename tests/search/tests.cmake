# several searches, of 150 trials in all
set_tests_properties(
  cli.0582-search-item
  PROPERTIES LABELS "slow")
