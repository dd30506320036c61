if(TARGET orch_torch)
  orch_plugin(layerbench orch_torch orch_net orch_base m)
endif()
