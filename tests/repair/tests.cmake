# a store is damaged and repaired many times
set_tests_properties(cli.0082-repair PROPERTIES LABELS "slow")
