orch_plugin(netstat orch_net orch_base)
