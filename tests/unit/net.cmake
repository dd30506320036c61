orch_test(net "quick" orch_net)
