# The LibTorch that cmake/torch_find.cmake finds, as the imported target orch::libtorch. Sets TORCH_FOUND, TORCH_VERSION,
# TORCH_REASON (a text for people: where it is from and why, or why there is none) and TORCH_LIBRARY_FOLDER.
#
# Not find_package(Torch): inside a PyTorch with CUDA it ends the whole configure where nvcc is not
# installed, and the adapter compiles no CUDA code. The libraries and the one flag that matter are
# read off the folder instead, in the same way for every source.
set(ORCH_TORCH_FROM auto CACHE STRING "LibTorch: auto, debian, python or a folder (cmake/torch_find.cmake)")
include(${CMAKE_CURRENT_LIST_DIR}/torch_find.cmake)

function(orch_torch_target)
  add_library(orch::libtorch INTERFACE IMPORTED GLOBAL)
  target_include_directories(orch::libtorch SYSTEM INTERFACE ${TORCH_INCLUDE}
    ${TORCH_INCLUDE}/torch/csrc/api/include)
  # libtorch.so has no symbols of its own: it is what pulls in the CUDA part where there is one.
  target_link_libraries(orch::libtorch INTERFACE -Wl,--no-as-needed ${TORCH_LIBRARY_FOLDER}/libtorch.so
    -Wl,--as-needed ${TORCH_LIBRARY_FOLDER}/libtorch_cpu.so ${TORCH_LIBRARY_FOLDER}/libc10.so)
  file(STRINGS ${TORCH_CONFIG} old_abi REGEX "_GLIBCXX_USE_CXX11_ABI=0")
  if(old_abi)
    target_compile_definitions(orch::libtorch INTERFACE _GLIBCXX_USE_CXX11_ABI=0)
  endif()
endfunction()

# Captures of CUDA graphs need the CUDA part of LibTorch and one header of CUDA's, which PyPI's torch brings along or a
# toolkit has: with both, ORCH_TORCH_CUDA is defined.
function(orch_torch_cuda)
  if(NOT EXISTS ${TORCH_LIBRARY_FOLDER}/libtorch_cuda.so)
    return()
  endif()
  file(GLOB of_python ${TORCH_LIBRARY_FOLDER}/../../nvidia/cu[0-9]*/include
    ${TORCH_LIBRARY_FOLDER}/../../nvidia/cuda_runtime/include)
  set(folders ${of_python})
  foreach(root "${CUDAToolkit_ROOT}" "$ENV{CUDA_HOME}" "$ENV{CUDA_PATH}" /usr/local/cuda)
    if(root)
      list(APPEND folders ${root}/include)
    endif()
  endforeach()
  list(TRANSFORM folders APPEND /cuda_runtime_api.h OUTPUT_VARIABLE headers)
  orch_first_existing(header ${headers} /usr/include/cuda_runtime_api.h)
  if(NOT header)
    message(STATUS "LibTorch: no cuda_runtime_api.h was found, so steps are not captured as CUDA graphs")
    return()
  endif()
  get_filename_component(include ${header} DIRECTORY)
  target_include_directories(orch::libtorch SYSTEM INTERFACE ${include})
  target_compile_definitions(orch::libtorch INTERFACE ORCH_TORCH_CUDA=1)
  target_link_libraries(orch::libtorch INTERFACE ${TORCH_LIBRARY_FOLDER}/libtorch_cuda.so
    ${TORCH_LIBRARY_FOLDER}/libc10_cuda.so)
endfunction()

# The target's own loops run in LibTorch's threads: at::parallel_for is a loop of one thread where it is compiled without OpenMP.
function(orch_torch_threads target)
  execute_process(COMMAND sh ${ORCH_TREE}/plugins/common/torch/openmp_runtime.sh ${TORCH_LIBRARY_FOLDER}
    OUTPUT_VARIABLE runtime ERROR_VARIABLE reason OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_STRIP_TRAILING_WHITESPACE)
  if(runtime MATCHES gomp AND NOT CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    set(reason "LibTorch's threads are those of GCC, which ${CMAKE_CXX_COMPILER_ID} cannot use")
    set(runtime "")
  endif()
  if(runtime)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fopenmp>)
    target_link_libraries(${target} PRIVATE ${runtime})
    if(IS_ABSOLUTE ${runtime})
      # the one that LibTorch takes, not another of its name
      get_filename_component(folder ${runtime} DIRECTORY)
      set_property(TARGET ${target} APPEND PROPERTY BUILD_RPATH ${folder})
      set_property(TARGET ${target} APPEND PROPERTY INSTALL_RPATH ${folder})
    endif()
  elseif(reason)
    message(STATUS "${reason}; batch norms and updates run in one thread")
  endif()
endfunction()

set(TORCH_FOUND FALSE)
orch_torch_find()
if(TORCH_CONFIG)
  orch_torch_target()
  orch_torch_cuda()
  set(TORCH_FOUND TRUE)
endif()
string(REGEX REPLACE "^LibTorch " "" reason "${TORCH_REASON}")
message(STATUS "LibTorch: ${reason}")
