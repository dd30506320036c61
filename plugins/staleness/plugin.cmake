orch_plugin(staleness orch_base m)
