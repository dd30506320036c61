# The pure part of plugin sourcesel; cli.0268 has the rest.
add_library(sourcesel_pure STATIC ${CMAKE_SOURCE_DIR}/plugins/sourcesel/pseudo_labels.c
  ${CMAKE_SOURCE_DIR}/plugins/sourcesel/source_divergence.c
  ${CMAKE_SOURCE_DIR}/plugins/sourcesel/source_sets.c)
target_include_directories(sourcesel_pure PUBLIC ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/include)
target_link_libraries(sourcesel_pure PUBLIC orch_base m)
orch_test(sourcesel "quick" sourcesel_pure)
