orch_test(yaml "quick" orch_yaml)
