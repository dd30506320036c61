# The model of plugin staleness; experiments.staleness has the rest.
add_library(staleness_model STATIC ${CMAKE_SOURCE_DIR}/plugins/staleness/learner_model.c
  ${CMAKE_SOURCE_DIR}/plugins/staleness/learner_times.c ${CMAKE_SOURCE_DIR}/plugins/staleness/update_table.c)
target_include_directories(staleness_model PUBLIC ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/include)
target_link_libraries(staleness_model PUBLIC orch_base m)
orch_test(staleness "quick" staleness_model)
