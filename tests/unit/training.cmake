# A stand-in for the LibTorch adapter, with which the training plugins are tested in every build; and
# one of another interface version.
foreach(name tiny other)
  add_library(${name}_torch MODULE ${CMAKE_SOURCE_DIR}/tests/plugins/tiny_torch.c)
  set_target_properties(${name}_torch PROPERTIES PREFIX "" OUTPUT_NAME ${name}-torch
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/plugins)
  target_include_directories(${name}_torch PRIVATE ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/include)
  target_compile_options(${name}_torch PRIVATE -O2)
  target_link_libraries(${name}_torch PRIVATE orch_net orch_base m)
endforeach()
target_compile_definitions(other_torch PRIVATE TINY_TORCH_VERSION=7)

add_library(recorder STATIC ${CMAKE_SOURCE_DIR}/tests/torch/recorder.c)
target_link_libraries(recorder PUBLIC orch_training)
add_library(training_fixture STATIC ${CMAKE_CURRENT_LIST_DIR}/training_fixture.c)
target_link_libraries(training_fixture PUBLIC recorder)
foreach(name training training_target training_files training_steps training_paths)
  orch_test(${name} "quick" training_fixture)
  add_dependencies(test_${name} tiny_torch other_torch plugin_null)
endforeach()
orch_test(training_fast "quick" recorder)
add_dependencies(test_training_fast tiny_torch)
# the example of docs/training-plugins.md: a training plugin of its own
add_library(plugin_noisy MODULE ${CMAKE_SOURCE_DIR}/tests/plugins/noisy.c)
set_target_properties(plugin_noisy PROPERTIES PREFIX "" OUTPUT_NAME noisy
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/plugins)
target_include_directories(plugin_noisy PRIVATE ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/include)
target_link_libraries(plugin_noisy PRIVATE orch_training)
# the pure parts of plugin semisup: what a teacher selects, and weak labels
orch_test(semisup "quick" orch_loader)
target_sources(test_semisup PRIVATE ${CMAKE_SOURCE_DIR}/plugins/semisup/top_images.c
  ${CMAKE_SOURCE_DIR}/plugins/semisup/weak_labels.c)
