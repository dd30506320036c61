# Items, bundles of them, and a folder of bundles.
orch_test(bundle "slow" orch_exchange)
orch_test(folder "quick" orch_exchange)
