# deep Q-learning: the plain network against numbers from scratch and against LibTorch, targets, exploration
orch_test(agent "quick" orch_agent)
if(TARGET orch_torch_adapter)
  orch_test(agent_torch "torch" orch_agent)
  add_dependencies(test_agent_torch orch_torch_adapter)
  set_tests_properties(unit.agent_torch PROPERTIES
    ENVIRONMENT "${ORCH_TEST_ENVIRONMENT};ORCH_TORCH=$<TARGET_FILE:orch_torch_adapter>")
endif()
