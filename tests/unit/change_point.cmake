# the step of a metric on a path of commits
orch_test(change_point "quick" orch_predictors)
orch_test(change_search "slow" orch_predictors)
foreach(name change_point change_search)
  target_sources(test_${name} PRIVATE ${CMAKE_SOURCE_DIR}/tests/unit/change_paths.c)
endforeach()
