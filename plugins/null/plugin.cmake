orch_plugin(null)
