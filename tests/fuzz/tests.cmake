# Fuzz targets of the program without its features (orch_fuzz in cmake/helpers.cmake).
orch_fuzz(bundle orch_exchange)
orch_fuzz(env_reply orch_env)
# 'orch gpu prices --update', and lib/base/csv.
orch_fuzz(prices orch_devices)
orch_fuzz(merge orch_store)
orch_fuzz(manifest orch_plugins)
# A recipe may contain keys and report items of any feature. The catalogue of plugins in memory takes the place of that in core/plugin.
orch_fuzz(recipe orch_feature_table)
target_link_options(fuzz_recipe PRIVATE -Wl,--allow-multiple-definition)
orch_fuzz(run_text orch_store)
orch_fuzz(wire orch_wire)
orch_fuzz(printed orch_wire ALSO ${CMAKE_SOURCE_DIR}/tests/wire/printed)
# files of weights, also of PyTorch
foreach(part pth safetensors)
  orch_fuzz(${part} orch_weights ALSO ${CMAKE_SOURCE_DIR}/tests/data/weights)
endforeach()
# annotations of images with boxes
foreach(part voc_xml open_images)
  orch_fuzz(${part} orch_scenes)
endforeach()
