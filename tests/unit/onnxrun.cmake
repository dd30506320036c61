# A stand-in for ONNX Runtime's library, for tests/experiments/onnxrun.sh.
add_library(tiny_ort MODULE ${CMAKE_SOURCE_DIR}/tests/plugins/tiny_ort.c)
set_target_properties(tiny_ort PROPERTIES PREFIX "" OUTPUT_NAME libonnxruntime
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/plugins/ort)
target_include_directories(tiny_ort PRIVATE ${CMAKE_SOURCE_DIR})
orch_test(onnxrun "quick" orch_samples orch_boxes orch_weights orch_base m)
target_sources(test_onnxrun PRIVATE ${CMAKE_SOURCE_DIR}/plugins/onnxrun/compare.c ${CMAKE_SOURCE_DIR}/plugins/onnxrun/roles.c
  ${CMAKE_SOURCE_DIR}/plugins/onnxrun/label_places.c)
