# The kit: what plugins use of lib, installed for plugins that are built elsewhere, a lab's own as well as those of this tree
# ('cmake -S plugins -DCMAKE_PREFIX_PATH=PREFIX'). find_package(orch) gives its libraries and orch_plugin(NAME [LIBRARY...]).
# Its version is the program's; a minor version may change it, while include/orch/plugin.h keeps its ABI.
set(kit base zip hw yaml devices net steptime weights data onnx)
set(targets orch_font)
foreach(part ${kit})
  list(APPEND targets orch_${part})
  install(DIRECTORY ${CMAKE_SOURCE_DIR}/lib/${part} DESTINATION lib/orch/kit/include/lib COMPONENT kit
    FILES_MATCHING PATTERN *.h)
endforeach()
install(FILES ${CMAKE_BINARY_DIR}/lib/onnx/onnx.pb-c.h DESTINATION lib/orch/kit/include COMPONENT kit)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/lib/cairo DESTINATION lib/orch/kit/include/lib COMPONENT kit FILES_MATCHING PATTERN *.h)
install(TARGETS ${targets} EXPORT orch-kit ARCHIVE DESTINATION lib/orch/kit COMPONENT kit
  INCLUDES DESTINATION lib/orch/kit/include include)
install(EXPORT orch-kit DESTINATION lib/cmake/orch FILE libraries.cmake COMPONENT kit)
include(CMakePackageConfigHelpers)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/orchConfigVersion.cmake COMPATIBILITY SameMinorVersion)
foreach(file helpers flags cuda torch torch_find source_digest)
  list(APPEND files ${CMAKE_SOURCE_DIR}/cmake/${file}.cmake)
endforeach()
install(FILES ${files} ${CMAKE_SOURCE_DIR}/cmake/orchConfig.cmake ${CMAKE_BINARY_DIR}/orchConfigVersion.cmake
  DESTINATION lib/cmake/orch COMPONENT kit)
