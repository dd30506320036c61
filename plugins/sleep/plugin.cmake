orch_plugin(sleep)
