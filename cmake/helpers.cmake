# orch_library(NAME [DEPS...]): a static library of every .c file in this folder. A header is
# included by its path from the root: #include "lib/base/error.h".
function(orch_library name)
  cmake_parse_arguments(PARSE_ARGV 1 library "" "" "ROOMS")
  set(patterns ${CMAKE_CURRENT_SOURCE_DIR}/*.c)
  foreach(room ${library_ROOMS})
    list(APPEND patterns ${CMAKE_CURRENT_SOURCE_DIR}/${room}/*.c)
  endforeach()
  file(GLOB sources CONFIGURE_DEPENDS ${patterns})
  add_library(${name} STATIC ${sources})
  target_include_directories(${name} PUBLIC $<BUILD_INTERFACE:${ORCH_TREE}> $<BUILD_INTERFACE:${ORCH_INCLUDE}>)
  target_link_libraries(${name} PUBLIC ${library_UNPARSED_ARGUMENTS})
  if("${library_UNPARSED_ARGUMENTS}" MATCHES "orch_")
    orch_take_headers(${name})
  endif()
endfunction()

# orch_take_headers(TARGET): its files begin with the headers that nearly every file includes, which are read once for all
# (a sixth of the time that compiling takes). A file still includes what it uses: builds with sanitizers, for debugging, with clang or
# with a launcher such as ccache go without.
function(orch_take_headers target)
  get_property(is_asked GLOBAL PROPERTY ORCH_HEADERS_ASKED)
  if(NOT is_asked)
    set_property(GLOBAL PROPERTY ORCH_HEADERS_ASKED ON)
    if(CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo" AND CMAKE_C_COMPILER_ID STREQUAL "GNU" AND NOT CMAKE_C_COMPILER_LAUNCHER
       AND NOT ORCH_SANITIZE AND NOT ORCH_TSAN AND NOT ORCH_COVERAGE)
      file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/headers.c CONTENT "")
      add_library(orch_headers OBJECT ${CMAKE_BINARY_DIR}/headers.c)
      target_link_libraries(orch_headers PRIVATE PkgConfig::GLIB PkgConfig::JANSSON)
      target_precompile_headers(orch_headers PRIVATE <glib.h> <jansson.h> <errno.h> <math.h> <stdio.h> <string.h> <unistd.h>)
    endif()
  endif()
  if(TARGET orch_headers)
    target_precompile_headers(${target} REUSE_FROM orch_headers)
  endif()
endfunction()

# orch_static_archives(OUT PREFIX...): sets OUT to the archives (lib*.a) that pkg-config names for these packages, with what
# they need; empty where one is missing, and with sanitizers, which must see the calls of GLib.
function(orch_static_archives out)
  set(archives "")
  foreach(prefix ${ARGN})
    foreach(name ${${prefix}_STATIC_LIBRARIES})
      if(name MATCHES "^(m|pthread|c|dl|rt)$") # of the C library
        continue()
      endif()
      find_library(ORCH_ARCHIVE_${name} NAMES lib${name}.a HINTS ${${prefix}_STATIC_LIBRARY_DIRS})
      list(APPEND archives ${ORCH_ARCHIVE_${name}})
    endforeach()
  endforeach()
  if(archives MATCHES "NOTFOUND" OR ORCH_SANITIZE OR ORCH_TSAN OR ORCH_FUZZ)
    set(archives "")
  endif()
  set(${out} "${archives}" PARENT_SCOPE)
endfunction()

# orch_feature([DEPS...] [ROOMS FOLDER...]): a static library orch_feature_NAME of every .c file of features/NAME and its rooms, which
# may call all of core but its commands, and whatever lies below. Nothing links it but the table of features, and tests.
function(orch_feature)
  get_filename_component(folder ${CMAKE_CURRENT_SOURCE_DIR} NAME)
  orch_library(orch_feature_${folder} orch_cli ${ORCH_CORE} orch_predictors orch_exchange orch_store orch_vcs
    orch_net orch_weights orch_devices orch_hw orch_data orch_zip orch_yaml orch_loggers orch_wire orch_base ${ARGN})
  target_compile_definitions(orch_feature_${folder} PRIVATE ORCH_VERSION="${PROJECT_VERSION}")
  set_property(GLOBAL APPEND PROPERTY ORCH_FEATURES orch_feature_${folder})
endfunction()

# orch_embed(TARGET NAME FILE): builds FILE (relative to the root) into TARGET, as the text
# 'extern const char NAME[]' of 'extern const unsigned long NAME_LENGTH' bytes, so that the program has it wherever it runs. Made anew when FILE changes.
function(orch_embed target name file)
  set(out ${CMAKE_CURRENT_BINARY_DIR}/embedded/${name}.c)
  add_custom_command(OUTPUT ${out} VERBATIM
    COMMAND ${CMAKE_COMMAND} -DNAME=${name} -DFILE=${ORCH_TREE}/${file} -DOUT=${out}
            -P ${ORCH_CMAKE}/embed.cmake
    DEPENDS ${ORCH_TREE}/${file} ${ORCH_CMAKE}/embed.cmake)
  target_sources(${target} PRIVATE ${out})
endfunction()

# orch_define_all(TARGET): linking the module fails where a symbol of it is defined nowhere. Clang's sanitizers define
# theirs in the program that loads it.
function(orch_define_all target)
  if(NOT (CMAKE_C_COMPILER_ID MATCHES "Clang" AND (ORCH_SANITIZE OR ORCH_FUZZ OR ORCH_TSAN)))
    target_link_options(${target} PRIVATE -Wl,-z,defs)
  endif()
endfunction()

# orch_plugin(NAME [DEPS...]): plugins/NAME/*.c as build/plugins/NAME.so, exporting one symbol.
function(orch_plugin name)
  file(GLOB sources CONFIGURE_DEPENDS ${ORCH_TREE}/plugins/${name}/*.c)
  add_library(plugin_${name} MODULE ${sources})
  set_target_properties(plugin_${name} PROPERTIES PREFIX "" OUTPUT_NAME ${name}
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/plugins)
  target_include_directories(plugin_${name} PRIVATE ${ORCH_TREE} ${ORCH_INCLUDE})
  target_link_libraries(plugin_${name} PRIVATE ${ARGN})
  orch_define_all(plugin_${name})
  if("${ARGN}" MATCHES "orch_")
    orch_take_headers(plugin_${name})
  endif()
  # NAME.build beside it tells a developer's orch which sources it was made from (not installed)
  set(patterns "plugins/${name}/*.[ch]|plugins/${name}/*.cu")
  if(ARGN)
    string(APPEND patterns "|plugins/common/*.[ch]|plugins/common/*.cpp|plugins/common/*.cu|lib/net/*.[ch]")
    file(GLOB adapter CONFIGURE_DEPENDS ${ORCH_TREE}/plugins/common/torch/adapter/*.cpp
         ${ORCH_TREE}/plugins/common/torch/adapter/*.cu)
    set_target_properties(plugin_${name} PROPERTIES LINK_DEPENDS "${adapter}")
  endif()
  add_custom_command(TARGET plugin_${name} POST_BUILD VERBATIM
    COMMAND ${CMAKE_COMMAND} -DOUT=${CMAKE_BINARY_DIR}/plugins/${name}.build -DROOT=${ORCH_TREE}
            "-DPATTERNS=${patterns}" -P ${ORCH_CMAKE}/source_digest.cmake)
  set(component orch)
  if(TARGET orch_comm AND EXISTS ${ORCH_TREE}/plugins/${name}/needs)
    file(STRINGS ${ORCH_TREE}/plugins/${name}/needs needs)
    if("mpi" IN_LIST needs)
      set(component mpi)
    endif()
  endif()
  install(TARGETS plugin_${name} DESTINATION lib/orch/plugins COMPONENT ${component})
endfunction()

# Where tests find what they need. One thread each, for they run side by side: threads that wait for
# others' turn with their processors spin. Tests of threads ask for theirs.
set(ORCH_TEST_ENVIRONMENT "ORCH_SOURCE_DIR=${ORCH_TREE};ORCH_BUILD_DIR=${CMAKE_BINARY_DIR};OMP_NUM_THREADS=1")

# orch_test(NAME LABEL [DEPS...]): test_NAME.c beside the file that calls it, a cmocka program, registered with CTest. Its
# second label is its first library, without 'orch_'.
# Tests labelled quick take under a minute together.
function(orch_test name label)
  add_executable(test_${name} ${CMAKE_CURRENT_LIST_DIR}/test_${name}.c)
  target_link_libraries(test_${name} PRIVATE ${ARGN} PkgConfig::CMOCKA)
  add_test(NAME unit.${name} COMMAND test_${name} WORKING_DIRECTORY ${CMAKE_BINARY_DIR})
  string(REGEX REPLACE "^orch_(feature_)?" "" subject "${ARGV2}")
  set_tests_properties(unit.${name} PROPERTIES LABELS "${label};${subject}" TIMEOUT 600
    ENVIRONMENT "${ORCH_TEST_ENVIRONMENT}")
endfunction()

# orch_fuzz(NAME [DEPS...] [ALSO FOLDER...]): fuzz_NAME.c beside the file that calls it. With ORCH_FUZZ it is a libFuzzer
# program, which tests/nightly.sh runs; otherwise replay.c feeds it the committed corpus
# (corpus/NAME beside it and the folders of ALSO), as a quick test.
function(orch_fuzz name)
  cmake_parse_arguments(fuzz "" "" "ALSO" ${ARGN})
  add_executable(fuzz_${name} ${CMAKE_CURRENT_LIST_DIR}/fuzz_${name}.c)
  target_link_libraries(fuzz_${name} PRIVATE ${fuzz_UNPARSED_ARGUMENTS})
  if(ORCH_FUZZ)
    target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
    return()
  endif()
  target_sources(fuzz_${name} PRIVATE ${ORCH_TREE}/tests/fuzz/replay.c)
  add_test(NAME fuzz.${name} COMMAND fuzz_${name} ${CMAKE_CURRENT_LIST_DIR}/corpus/${name} ${fuzz_ALSO})
  set_tests_properties(fuzz.${name} PROPERTIES LABELS quick TIMEOUT 600
    ENVIRONMENT "${ORCH_TEST_ENVIRONMENT}")
endfunction()
