# find_package(orch): the libraries orch_base, orch_net, orch_weights, orch_data, ... of the kit (cmake/kit.cmake), and
# orch_plugin(NAME [LIBRARY...]), which makes plugins/NAME.so of plugins/NAME/*.c below ORCH_TREE, the folder that asks.
set(ORCH_CMAKE ${CMAKE_CURRENT_LIST_DIR})
get_filename_component(ORCH_PREFIX ${CMAKE_CURRENT_LIST_DIR}/../../.. ABSOLUTE)
set(ORCH_INCLUDE ${ORCH_PREFIX}/include)
find_package(PkgConfig REQUIRED)
foreach(pair GLIB:glib-2.0>=2.70 JANSSON:jansson FYAML:libfyaml PROTOBUF_C:libprotobuf-c
        "CAIRO:cairo-ft>=1.15.10 cairo-pdf cairo-png fontconfig freetype2")
  string(REGEX MATCH "^([A-Z_]+):(.*)$" _ "${pair}")
  string(REPLACE " " ";" modules "${CMAKE_MATCH_2}")
  pkg_check_modules(${CMAKE_MATCH_1} REQUIRED IMPORTED_TARGET ${modules})
endforeach()
find_package(ZLIB REQUIRED)
include(${CMAKE_CURRENT_LIST_DIR}/libraries.cmake)
if(NOT ORCH_TREE)
  set(ORCH_TREE ${CMAKE_CURRENT_SOURCE_DIR})
endif()
include(${CMAKE_CURRENT_LIST_DIR}/helpers.cmake)
add_compile_definitions(_GNU_SOURCE)
