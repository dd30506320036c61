# Items, bundles of them.
orch_test(bundle "slow" orch_exchange)
