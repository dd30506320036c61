# the step of a metric on a path of commits
orch_test(change_point "quick" orch_feature_bisect)
orch_test(change_search "slow" orch_feature_bisect)
foreach(name change_point change_search)
  target_sources(test_${name} PRIVATE ${CMAKE_SOURCE_DIR}/tests/bisect/change_paths.c)
endforeach()
