orch_plugin(replay orch_actor orch_weights)
add_dependencies(plugin_replay orch-replay-actor)
