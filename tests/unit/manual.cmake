orch_test(manual quick orch_cli)
