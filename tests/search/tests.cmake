# What chooses points, ends trials, spends repeats; the lines of a contour plot.
foreach(name sampler stop_rule best_arm isolines goals)
  orch_test(${name} "quick" orch_feature_search)
endforeach()
