if(TARGET orch_training)
  orch_plugin(finetune orch_training)
endif()
