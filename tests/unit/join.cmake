# Joining stores: laws of a union, and files that nobody vouches for.
orch_test(join "quick" orch_store)
