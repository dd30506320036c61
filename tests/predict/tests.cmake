# How long a trial will take, which to measure; steps of several GPUs and of networks with frozen layers.
foreach(name design duration frozen parallel speed_change)
  orch_test(${name} "quick" orch_feature_predict)
endforeach()
