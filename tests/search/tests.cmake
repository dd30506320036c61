# several searches, of 150 trials in all
set_tests_properties(
  cli.0582-search-item
  PROPERTIES LABELS "slow")
# trials that wait for others, one after the other
set_tests_properties(
  cli.0608-promoted-trials
  PROPERTIES LABELS "slow")
# take three seconds or more each
set_tests_properties(cli.0556-search-tries-once cli.0558-search-repeats cli.0565-stop-by-forecast cli.0567-repeat-until-known cli.0583-search-outlook cli.0584-search-answers cli.0589-curves-by-step cli.0592-repeats-of-a-pruned-point cli.0609-promoted-from-a-checkpoint cli.0632-search-by-cost cli.0750-ranges-of-any-width cli.0751-stop-of-nothing cli.0752-until-and-seed cli.0753-repeats-that-fail PROPERTIES LABELS "slow")
