orch_plugin(replay orch_gorila orch_weights)
add_dependencies(plugin_replay orch-replay-actor orch-replay-learner)
