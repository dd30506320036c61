# The ledger of hours and money.
orch_test(ledger "quick" orch_feature_cost)
# two hosts hold locks; trials wait in the jobs of a stand-in for Slurm
set_tests_properties(cli.0077-allowance cli.0358-allowance-in-progress cli.0381-two-allowances PROPERTIES LABELS "slow")
