# The LibTorch that cmake/torch_find.cmake finds, as the imported target orch::libtorch. Sets TORCH_FOUND, TORCH_VERSION,
# TORCH_REASON (a text for people: where it is from and why, or why there is none) and TORCH_LIBRARY_FOLDER.
#
# Not find_package(Torch): inside a PyTorch with CUDA it ends the whole configure where nvcc is not
# installed, and the adapter includes no CUDA header. The libraries and the one flag that matter are
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

set(TORCH_FOUND FALSE)
orch_torch_find()
if(TORCH_CONFIG)
  orch_torch_target()
  set(TORCH_FOUND TRUE)
endif()
message(STATUS "LibTorch: ${TORCH_REASON}")
