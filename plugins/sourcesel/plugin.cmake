if(TARGET orch_training)
  orch_plugin(sourcesel orch_training)
endif()
