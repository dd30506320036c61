if(TARGET orch_training)
  orch_plugin(semisup orch_training)
endif()
