if(TARGET orch_training)
  orch_plugin(detect orch_training orch_samples orch_scenes orch_boxes)
endif()
