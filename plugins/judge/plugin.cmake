if(TARGET orch_training)
  orch_plugin(judge orch_training)
endif()
