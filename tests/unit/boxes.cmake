# boxes of objects: priors, matching, loss, detections, average precision
orch_test(boxes "quick" orch_boxes)
orch_test(output_maps "quick" orch_boxes orch_net)
# Every reference case; where they are not, the test says so and is skipped.
add_executable(test_boxes_reference ${CMAKE_SOURCE_DIR}/tests/reference/test_boxes_reference.c)
target_link_libraries(test_boxes_reference PRIVATE orch_boxes PkgConfig::JANSSON)
target_compile_definitions(test_boxes_reference PRIVATE
  ORCH_REFERENCE_DEFAULT="${CMAKE_SOURCE_DIR}/../shared/data")
add_test(NAME reference.boxes COMMAND test_boxes_reference)
set_tests_properties(reference.boxes PROPERTIES LABELS "reference" TIMEOUT 60 SKIP_RETURN_CODE 77)
# bench/boxes_speed.c: milliseconds of a batch
add_executable(bench_boxes_speed ${CMAKE_SOURCE_DIR}/bench/boxes_speed.c)
target_link_libraries(bench_boxes_speed PRIVATE orch_boxes)
# images with boxes: transforms, generated images, batches
orch_test(scenes "quick" orch_scenes)
# sets of images with boxes on disk, whose images the test writes with libjpeg
if(JPEG_FOUND)
  orch_test(scene_files "quick" orch_scenes)
endif()
