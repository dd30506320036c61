if(TARGET orch_loader)
  foreach(name data image_folder loader loader_options pixel subset transform whitening)
    orch_test(${name} "quick" orch_loader)
  endforeach()
  # bench/loader_speed.c: images a second, by number of threads
  add_executable(bench_loader_speed ${CMAKE_SOURCE_DIR}/bench/loader_speed.c)
  target_link_libraries(bench_loader_speed PRIVATE orch_loader)
endif()
orch_test(tar "quick" orch_tar orch_feature_datasets)
