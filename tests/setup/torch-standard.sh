# The adapter is compiled as the C++ that the headers of the LibTorch ask for: newer ones refuse C++17.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
cat >standard.cmake <<C
cmake_policy(VERSION 3.20)
include($SOURCE/cmake/torch_find.cmake)
orch_torch_find()
message(STATUS "standard: \${TORCH_CXX_STANDARD}.")
C
standard() { # standard WANTED VERSION: of a LibTorch whose headers ask for C++ VERSION
    mkdir -p t/share/cmake/Torch t/include/ATen t/include/torch/headeronly t/lib
    touch t/share/cmake/Torch/TorchConfig.cmake t/lib/libtorch.so
    printf '#define TORCH_VERSION_MAJOR 2\n#define TORCH_VERSION_MINOR 9\n#define TORCH_VERSION_PATCH 0\n' >t/include/torch/headeronly/version.h
    printf '#pragma once\n#if !defined(_MSC_VER)\n#error C++%s or later compatible compiler is required to use ATen.\n#endif\n' "$2" >t/include/ATen/ATen.h
    ok cmake -DORCH_TORCH_FROM="$PWD/t" -P standard.cmake
    has "standard: $1."
}
standard 17 14
standard 17 17
standard 20 20
same "$(grep -c 'CXX_STANDARD \${TORCH_CXX_STANDARD}' "$SOURCE/plugins/common/torch/CMakeLists.txt")" 2
