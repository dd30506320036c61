if(TARGET orch_training)
  orch_plugin(train orch_training)
endif()
