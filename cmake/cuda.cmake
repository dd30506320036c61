# CUDA kernels: compiled where there is a CUDA compiler (nvcc) that works, whatever LibTorch is installed. Everything is built
# without one, too; what needs the kernels then says so. './build.sh' passes ORCH_CUDA=off where there is no GPU and nobody asked for
# kernels, and ORCH_CUDA_FOR for the GPU that is there.
#
# orch_cuda_find() sets, in the scope that calls it (the root, so that every folder may use the language):
#   ORCH_CUDA_WORKS          TRUE when kernels are compiled
#   ORCH_CUDA_REASON         otherwise: why not
#   ORCH_CUDA_ARCHITECTURES  what they are compiled for
# and in the cache, for the table that build.sh prints, ORCH_CUDA_FOUND (for what and by what kernels are compiled, or "") and
# ORCH_CUDA_WHY_NOT (otherwise: why not).
option(ORCH_CUDA "compile CUDA kernels where there is a CUDA compiler" ON)
set(ORCH_CUDA_FOR all CACHE STRING "GPUs that CUDA kernels are compiled for: all, or compute capabilities, such as 80,90")
option(ORCH_PTXAS "print the registers, shared memory and spills of each CUDA kernel during the build (ptxas -v)" OFF)

# The first architecture of each generation from 3.7 on that this nvcc knows, whose code the later ones of the generation
# run, and PTX of the newest for GPUs that are newer still: "75-real;80-real;...;120".
function(orch_cuda_all_architectures out known)
  set(chosen "")
  foreach(architecture ${known})
    string(REGEX REPLACE ".$" "" generation ${architecture})
    if(architecture GREATER_EQUAL 37 AND NOT DEFINED seen_${generation})
      set(seen_${generation} TRUE)
      list(APPEND chosen ${architecture})
    endif()
  endforeach()
  list(POP_BACK chosen newest)
  list(TRANSFORM chosen APPEND "-real")
  set(${out} ${chosen} ${newest} PARENT_SCOPE)
endfunction()

# The architectures of the GPUs with these compute capabilities (80, 90, ...). A GPU that is newer than this nvcc compiles PTX of
# the newest that nvcc knows; one that is older than all of these can run nothing.
function(orch_cuda_chosen_architectures out known)
  set(chosen "")
  foreach(capability ${ARGN})
    if(capability IN_LIST known)
      list(APPEND chosen ${capability}-real)
      continue()
    endif()
    set(lower ${known})
    foreach(architecture ${known})
      if(architecture GREATER capability)
        list(REMOVE_ITEM lower ${architecture})
      endif()
    endforeach()
    if(lower)
      list(POP_BACK lower newest)
      list(APPEND chosen ${newest}-virtual)
    endif()
  endforeach()
  list(REMOVE_DUPLICATES chosen)
  set(${out} ${chosen} PARENT_SCOPE)
endfunction()

# What kernels are compiled for: ORCH_CUDA_FOR, as far as this nvcc can.
function(orch_cuda_architectures out)
  execute_process(COMMAND ${CMAKE_CUDA_COMPILER} --list-gpu-arch OUTPUT_VARIABLE text ERROR_QUIET)
  string(REGEX MATCHALL "[0-9]+" known "${text}")
  if(NOT known) # nvcc before 11.2 does not list them
    set(known 37 50 60 70 80)
  endif()
  list(SORT known COMPARE NATURAL)
  if(ORCH_CUDA_FOR STREQUAL "all")
    orch_cuda_all_architectures(chosen "${known}")
  else()
    string(REPLACE "," ";" capabilities "${ORCH_CUDA_FOR}")
    orch_cuda_chosen_architectures(chosen "${known}" ${capabilities})
  endif()
  set(${out} ${chosen} PARENT_SCOPE)
endfunction()

# Looks for nvcc anew where an earlier configuration found none: it may have been installed since.
macro(orch_cuda_compiler)
  include(CheckLanguage)
  if(NOT CMAKE_CUDA_COMPILER)
    unset(CMAKE_CUDA_COMPILER CACHE)
  endif()
  if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
    find_program(ORCH_NVCC nvcc HINTS $ENV{CUDA_HOME}/bin $ENV{CUDA_PATH}/bin PATHS /usr/local/cuda/bin)
    mark_as_advanced(ORCH_NVCC)
    if(ORCH_NVCC)
      set(ENV{CUDACXX} ${ORCH_NVCC})
    endif()
  endif()
  check_language(CUDA)
endmacro()

macro(orch_cuda_find)
  set(ORCH_CUDA_WORKS FALSE)
  set(ORCH_CUDA_REASON "ORCH_CUDA=off")
  set(ORCH_CUDA_FOUND "" CACHE INTERNAL "what CUDA kernels are compiled for, and by what")
  if(ORCH_CUDA)
    orch_cuda_compiler()
    if(NOT CMAKE_CUDA_COMPILER)
      set(ORCH_CUDA_REASON "there is no CUDA compiler (nvcc), or it does not work with this C++ compiler")
    else()
      orch_cuda_architectures(ORCH_CUDA_ARCHITECTURES)
      set(ORCH_CUDA_REASON "${CMAKE_CUDA_COMPILER} compiles for no GPU of compute capability ${ORCH_CUDA_FOR}")
    endif()
    if(CMAKE_CUDA_COMPILER AND ORCH_CUDA_ARCHITECTURES)
      set(CMAKE_CUDA_ARCHITECTURES ${ORCH_CUDA_ARCHITECTURES})
      enable_language(CUDA)
      set(ORCH_CUDA_WORKS TRUE)
      set(ORCH_CUDA_REASON "")
      list(JOIN ORCH_CUDA_ARCHITECTURES ", " architectures)
      set(ORCH_CUDA_FOUND "for ${architectures}, by ${CMAKE_CUDA_COMPILER} ${CMAKE_CUDA_COMPILER_VERSION}" CACHE INTERNAL "")
    endif()
  endif()
  if(ORCH_CUDA_WORKS)
    message(STATUS "CUDA kernels: ${ORCH_CUDA_FOUND}")
  else()
    message(STATUS "CUDA kernels: left out, because ${ORCH_CUDA_REASON}")
  endif()
  set(ORCH_CUDA_WHY_NOT "${ORCH_CUDA_REASON}" CACHE INTERNAL "why no CUDA kernels are compiled")
endmacro()

# The settings of a target that holds .cu files. The CUDA runtime is linked statically, so that what links the target
# loads on machines without a driver.
function(orch_cuda_settings target)
  # the warnings and flags of the other files are not nvcc's
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON CUDA_ARCHITECTURES "${ORCH_CUDA_ARCHITECTURES}"
    COMPILE_OPTIONS "-Xcompiler=-fvisibility=hidden;$<$<BOOL:${ORCH_PTXAS}>:-Xptxas=-v>" CUDA_RUNTIME_LIBRARY Static)
  target_include_directories(${target} PRIVATE ${ORCH_TREE} ${ORCH_INCLUDE})
endfunction()

# orch_cuda_library(TARGET FILE.cu...): a static library of kernels, which any target may link. Where kernels are not
# compiled there is no TARGET: ask 'if(TARGET ...)' and link a file that stands in for it.
function(orch_cuda_library target)
  if(ORCH_CUDA_WORKS)
    add_library(${target} STATIC ${ARGN})
    orch_cuda_settings(${target})
  endif()
endfunction()

# orch_cuda_module(TARGET OUTPUT FILE.cu...): a shared library plugins/common/OUTPUT.so, built and installed, which
# plugins map at run time (dlopen). Where kernels are not compiled there is neither TARGET nor file.
function(orch_cuda_module target output)
  if(ORCH_CUDA_WORKS)
    add_library(${target} MODULE ${ARGN})
    orch_cuda_settings(${target})
    set_target_properties(${target} PROPERTIES PREFIX "" OUTPUT_NAME ${output}
      LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/plugins/common)
    install(TARGETS ${target} DESTINATION lib/orch/plugins/common)
  endif()
endfunction()

# Adds to plugin NAME its sources that use CUDA (plugins/NAME/cuda: kernels in .cu, the rest in C), or those that stand in for
# them where kernels are not compiled (plugins/NAME/no_cuda): recipes that use the plugin are checked and planned in any build.
function(orch_plugin_cuda name)
  set(folder ${ORCH_TREE}/plugins/${name})
  if(ORCH_CUDA_WORKS)
    file(GLOB kernels CONFIGURE_DEPENDS ${folder}/cuda/*.cu)
    file(GLOB sources CONFIGURE_DEPENDS ${folder}/cuda/*.c)
    orch_cuda_library(plugin_${name}_kernels ${kernels})
    target_link_libraries(plugin_${name} PRIVATE plugin_${name}_kernels)
    target_include_directories(plugin_${name} SYSTEM PRIVATE ${CMAKE_CUDA_TOOLKIT_INCLUDE_DIRECTORIES})
  else()
    file(GLOB sources CONFIGURE_DEPENDS ${folder}/no_cuda/*.c)
  endif()
  target_sources(plugin_${name} PRIVATE ${sources})
endfunction()
