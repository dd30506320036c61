orch_plugin(replay orch_actor)
add_dependencies(plugin_replay orch-replay-actor)
