# Adapters for other frameworks: wrapped programs with nothing to build. Each is found under its own name, through a link
# to this folder.
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/plugins)
file(GLOB wrap_manifests CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/*.plugin)
file(GLOB wrap_scripts CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/*.py)
foreach(manifest ${wrap_manifests})
  get_filename_component(wrap_name ${manifest} NAME_WE)
  file(CREATE_LINK ${CMAKE_CURRENT_LIST_DIR} ${CMAKE_BINARY_DIR}/plugins/${wrap_name} SYMBOLIC)
  install(FILES ${manifest} ${wrap_scripts} DESTINATION lib/orch/plugins/${wrap_name})
endforeach()
