# The check of a plugin, skeletons.
orch_test(skeleton "quick" orch_feature_plugins)
foreach(name conform conform_slow)
  orch_test(${name} "slow" orch_feature_plugins)
  add_dependencies(test_${name} plugin_moody orch-host)
endforeach()

# Plugins that misbehave, built for tests only, and the test of orch-host on them.
set(bad_plugins ${CMAKE_BINARY_DIR}/tests/plugins)

function(orch_bad_plugin name source)
  add_library(bad_${name} MODULE ${CMAKE_SOURCE_DIR}/tests/plugins/${source})
  set_target_properties(bad_${name} PROPERTIES PREFIX "" OUTPUT_NAME ${name}
    LIBRARY_OUTPUT_DIRECTORY ${bad_plugins})
  target_include_directories(bad_${name} PRIVATE ${CMAKE_SOURCE_DIR}/include)
  target_compile_definitions(bad_${name} PRIVATE "NAME=\"${name}\"" ${ARGN})
endfunction()

orch_bad_plugin(misbehave misbehave.c)
orch_bad_plugin(bad_abi unloadable.c BAD_ABI)
orch_bad_plugin(bad_magic unloadable.c BAD_MAGIC)
orch_bad_plugin(short_struct unloadable.c SHORT_STRUCT)
orch_bad_plugin(short_stride unloadable.c SHORT_STRIDE)
orch_bad_plugin(no_symbol unloadable.c NO_SYMBOL)
orch_bad_plugin(next_major unloadable.c NEXT_MAJOR)
orch_bad_plugin(undefined_symbol unloadable.c UNDEFINED_SYMBOL)
orch_bad_plugin(crash_load unloadable.c CRASH_LOAD)
orch_bad_plugin(no_run unloadable.c NO_RUN)
orch_bad_plugin(late_param unloadable.c LATE_PARAM)
foreach(kind far_param other_name no_name odd_version huge_stride null_table many_rows returns_null slow_load)
  string(TOUPPER ${kind} switch)
  orch_bad_plugin(${kind} unloadable.c ${switch})
  list(APPEND more_bad_plugins bad_${kind})
endforeach()
target_compile_options(bad_no_run PRIVATE -Wno-unused-function)

# orch-host on rows of trials: host_fixture.h
function(orch_host_test name)
  add_executable(test_${name} ${CMAKE_SOURCE_DIR}/tests/plugins/test_${name}.c)
  target_link_libraries(test_${name} PRIVATE orch_wire PkgConfig::CMOCKA)
  add_dependencies(test_${name} orch-host bad_misbehave)
  string(REPLACE host_ "" label ${name})
  add_test(NAME host.${label} COMMAND test_${name} WORKING_DIRECTORY ${CMAKE_BINARY_DIR})
  set_tests_properties(host.${label} PROPERTIES LABELS quick TIMEOUT 600 ENVIRONMENT
    "ORCH_SOURCE_DIR=${CMAKE_SOURCE_DIR};ORCH_BUILD_DIR=${CMAKE_BINARY_DIR}")
endfunction()

orch_host_test(host_trials)
orch_host_test(host_text)
orch_host_test(host_follow)
orch_host_test(host_edges)
add_dependencies(test_host_edges bad_slow_load)
if(NOT ORCH_SANITIZE AND NOT ORCH_TSAN) # they want to be preloaded first themselves
  add_library(orch_old_kernel MODULE ${CMAKE_SOURCE_DIR}/tests/plugins/old_kernel.c)
  set_target_properties(orch_old_kernel PROPERTIES PREFIX "lib" LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
  target_link_libraries(orch_old_kernel PRIVATE ${CMAKE_DL_LIBS})
  add_dependencies(test_host_edges orch_old_kernel)
  set_property(TEST host.edges APPEND PROPERTY ENVIRONMENT "ORCH_OLD_KERNEL=$<TARGET_FILE:orch_old_kernel>")
endif()
add_dependencies(test_host_trials plugin_null plugin_sleep bad_bad_abi bad_bad_magic bad_crash_load
  bad_short_struct bad_short_stride bad_no_symbol bad_next_major bad_undefined_symbol bad_no_run
  bad_late_param ${more_bad_plugins})

add_test(NAME host.needed COMMAND sh ${CMAKE_SOURCE_DIR}/tests/plugins/needed.sh
  $<TARGET_FILE:orch-host>)
set_tests_properties(host.needed PROPERTIES LABELS quick)

# What a slot is, in one process and in several ranks that launchers of the tests start.
orch_bad_plugin(ranks ranks.c)
orch_bad_plugin(plain ranks.c PLAIN)

# What a compiled plugin opens (inputs.compiled-reads), in one process and in ranks.
orch_bad_plugin(opens opens.c)
orch_bad_plugin(opens_in_ranks opens.c RANKS)

# Plugins of several ranks that talk by MPI, where MPI is installed. Only these plugins link it.
find_package(MPI COMPONENTS C QUIET)
function(orch_mpi_plugin name)
  add_library(plugin_${name} MODULE ${CMAKE_SOURCE_DIR}/tests/plugins/${name}.c)
  set_target_properties(plugin_${name} PROPERTIES PREFIX "" OUTPUT_NAME ${name}
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/mpi)
  target_include_directories(plugin_${name} PRIVATE ${CMAKE_SOURCE_DIR}/include)
  target_link_libraries(plugin_${name} PRIVATE MPI::MPI_C ${ARGN})
endfunction()
if(MPI_C_FOUND)
  orch_mpi_plugin(mpi_sum)
  orch_mpi_plugin(fake_nccl)
  target_compile_options(plugin_fake_nccl PRIVATE -fvisibility=default)
  if(TARGET orch_torch_adapter)
    orch_mpi_plugin(mpi_gradients orch_torch m)
    add_dependencies(plugin_mpi_gradients orch_torch_adapter)
  endif()
endif()

# An older plugin under this host.
add_library(bad_abi_1_0 MODULE ${CMAKE_SOURCE_DIR}/tests/plugins/abi_1_0.c)
set_target_properties(bad_abi_1_0 PROPERTIES PREFIX "" OUTPUT_NAME abi_1_0
  LIBRARY_OUTPUT_DIRECTORY ${bad_plugins})
target_include_directories(bad_abi_1_0 BEFORE PRIVATE ${CMAKE_SOURCE_DIR}/tests/plugins/abi-1.0)
