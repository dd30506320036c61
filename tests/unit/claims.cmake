# it waits for claims to end
orch_test(claims "slow" orch_exchange)
