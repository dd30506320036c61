orch_plugin(replay orch_agent)
