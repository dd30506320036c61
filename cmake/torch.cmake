# Where LibTorch is. Looked for in this order: $Torch_DIR (or -DTorch_DIR), python3's installed
# torch, /usr/bin/python3's, the system's package (Debian: libtorch-dev) or conda's. Sets
# TORCH_FOUND, TORCH_VERSION, TORCH_FROM (a text for people), TORCH_LIBRARY_FOLDER, and the imported
# target orch::libtorch.
#
# Not find_package(Torch): inside a PyTorch with CUDA it ends the whole configure where nvcc is not
# installed, and the adapter includes no CUDA header. The libraries and the one flag that matter are
# read off the folder instead, in the same way for every source.
set(TORCH_MINIMUM 1.13)

# The first of the paths that exists, or "".
function(orch_first_existing out)
  set(${out} "" PARENT_SCOPE)
  foreach(path ${ARGN})
    if(EXISTS "${path}")
      get_filename_component(path "${path}" ABSOLUTE)
      set(${out} "${path}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

# The cmake folder of a Python interpreter's torch, found without importing it (that takes seconds).
function(orch_torch_of_python out python)
  execute_process(COMMAND ${python} -c "import importlib.util as u, os
s = u.find_spec('torch')
print(os.path.join(os.path.dirname(s.origin), 'share', 'cmake', 'Torch') if s and s.origin else '')"
    OUTPUT_VARIABLE dir OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(failed OR NOT dir)
    set(dir "")
  endif()
  set(${out} "${dir}" PARENT_SCOPE)
endfunction()

# Sets TORCH_CONFIG to the first TorchConfig.cmake, TORCH_FROM to what led there.
function(orch_torch_locate)
  orch_torch_of_python(of_python python3)
  orch_torch_of_python(of_system_python /usr/bin/python3)
  set(package_prefixes ${CMAKE_PREFIX_PATH} $ENV{CONDA_PREFIX} /usr/local /usr)
  set(packages "")
  foreach(prefix ${package_prefixes})
    list(APPEND packages ${prefix}/lib/${CMAKE_LIBRARY_ARCHITECTURE}/cmake/Torch
      ${prefix}/lib/cmake/Torch ${prefix}/share/cmake/Torch)
  endforeach()
  foreach(place "Torch_DIR:Torch_DIR" "environment_dir:\$Torch_DIR"
                "of_python:torch of python3" "of_system_python:torch of /usr/bin/python3"
                "packages:system package")
    string(REGEX MATCH "^([A-Za-z_]+):(.*)$" _ "${place}")
    set(from "${CMAKE_MATCH_2}")
    set(environment_dir "$ENV{Torch_DIR}" "$ENV{Torch_DIR}/share/cmake/Torch")
    set(candidates ${${CMAKE_MATCH_1}})
    list(TRANSFORM candidates APPEND /TorchConfig.cmake)
    orch_first_existing(config ${candidates})
    if(config)
      set(TORCH_CONFIG "${config}" PARENT_SCOPE)
      set(TORCH_FROM "${from}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

# "1.13.1" from the version header that every LibTorch installs.
function(orch_torch_version out include)
  orch_first_existing(header ${include}/torch/headeronly/version.h
    ${include}/torch/csrc/api/include/torch/version.h)
  set(version "")
  foreach(part MAJOR MINOR PATCH)
    file(STRINGS "${header}" line REGEX "#define TORCH_VERSION_${part} +[0-9]+")
    string(REGEX MATCH "[0-9]+$" number "${line}")
    list(APPEND version "${number}")
  endforeach()
  list(JOIN version "." version)
  set(${out} "${version}" PARENT_SCOPE)
endfunction()

# Makes orch::libtorch from the LibTorch that a TorchConfig.cmake belongs to.
function(orch_torch_target config)
  get_filename_component(dir "${config}" DIRECTORY)
  # share/cmake/Torch, lib/cmake/Torch, lib/ARCH/cmake/Torch
  set(roots ${dir}/../../.. ${dir}/../../../..)
  list(TRANSFORM roots APPEND /include OUTPUT_VARIABLE includes)
  list(TRANSFORM includes APPEND /ATen/ATen.h)
  orch_first_existing(aten ${includes})
  orch_first_existing(torch ${dir}/../../../lib/libtorch.so ${dir}/../../libtorch.so)
  if(NOT aten OR NOT torch)
    message(STATUS "LibTorch at ${dir} has no headers or no libtorch.so: not used")
    return()
  endif()
  string(REGEX REPLACE "/ATen/ATen.h$" "" include "${aten}")
  get_filename_component(folder "${torch}" DIRECTORY)
  orch_torch_version(version "${include}")
  if(version VERSION_LESS TORCH_MINIMUM)
    message(STATUS "LibTorch ${version} at ${dir} is older than ${TORCH_MINIMUM}: not used")
    return()
  endif()
  add_library(orch::libtorch INTERFACE IMPORTED GLOBAL)
  target_include_directories(orch::libtorch SYSTEM INTERFACE ${include}
    ${include}/torch/csrc/api/include)
  # libtorch.so has no symbols of its own: it is what pulls in the CUDA part where there is one.
  target_link_libraries(orch::libtorch INTERFACE -Wl,--no-as-needed ${torch} -Wl,--as-needed
    ${folder}/libtorch_cpu.so ${folder}/libc10.so)
  file(STRINGS ${config} old_abi REGEX "_GLIBCXX_USE_CXX11_ABI=0")
  if(old_abi)
    target_compile_definitions(orch::libtorch INTERFACE _GLIBCXX_USE_CXX11_ABI=0)
  endif()
  set(TORCH_LIBRARY_FOLDER "${folder}" PARENT_SCOPE)
  set(TORCH_VERSION "${version}" PARENT_SCOPE)
  set(TORCH_FROM "LibTorch ${version}, ${TORCH_FROM}, ${folder}" PARENT_SCOPE)
  set(TORCH_FOUND TRUE PARENT_SCOPE)
endfunction()

set(TORCH_FOUND FALSE)
set(TORCH_CONFIG "")
orch_torch_locate()
if(TORCH_CONFIG)
  orch_torch_target("${TORCH_CONFIG}")
endif()
