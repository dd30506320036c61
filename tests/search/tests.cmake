# several searches, of 150 trials in all
set_tests_properties(
  cli.0582-search-item
  PROPERTIES LABELS "slow")
# trials that wait for others, one after the other
set_tests_properties(
  cli.0608-promoted-trials
  PROPERTIES LABELS "slow")
