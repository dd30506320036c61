orch_test(pack "quick" orch_pack)
