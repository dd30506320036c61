if(TARGET orch_torch)
  orch_plugin(layertime orch_torch orch_net orch_base m)
endif()
