if(TARGET orch_training)
  orch_plugin(batchaug orch_training)
endif()
