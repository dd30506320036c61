#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Compiles the LibTorch adapter for the PyTorch of a Python, from what an installation of orch has beside this script
# (share/orch/adapter) and in lib/orch/adapter. Called by 'orch plugin build'; a clone uses CMake instead.
#
#   build.sh PYTHON OUT     OUT gets orch-torch.so, orch-torch.version and orch-torch.library
#
# Prints the folder and the version of PyTorch. Exit status: 0 built, 3 no PyTorch that can be used, 4 no compiler, 5 it did not compile.
# $CXX and $CC are the compilers (default: c++ and cc).
set -eu
python=$1 out=$2
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd -P)
archives=$here/../../../lib/orch/adapter
say() { printf '%s\n' "$*" >&2; }

# ---- PyTorch: its folder is asked for without importing it, which takes seconds ------------------------
torch=$("$python" -c "import importlib.util as u, os
s = u.find_spec('torch')
print(os.path.dirname(os.path.realpath(s.origin)) if s and s.origin else '')" 2>/dev/null) || torch=
[ -n "$torch" ] || { say "'$python' imports no torch"; exit 3; }
include=$torch/include
header=$include/torch/headeronly/version.h
[ -e "$header" ] || header=$include/torch/csrc/api/include/torch/version.h
[ -e "$header" ] && [ -e "$include/ATen/ATen.h" ] && [ -e "$torch/lib/libtorch_cpu.so" ] ||
    { say "the PyTorch in '$torch' has no headers or no libtorch_cpu.so"; exit 3; }
number() { sed -n "s/^#define TORCH_VERSION_$1 *\([0-9][0-9]*\).*/\1/p" "$header"; }
version=$(number MAJOR).$(number MINOR).$(number PATCH)
if [ "$(number MAJOR)" -lt 1 ] || { [ "$(number MAJOR)" -eq 1 ] && [ "$(number MINOR)" -lt 13 ]; }; then
    say "PyTorch $version in '$torch' is older than 1.13"
    exit 3
fi

# ---- flags ---------------------------------------------------------------------------------------------
standard=17
! grep -q '#error C++20 ' "$include/ATen/ATen.h" || standard=20
set -- -std=gnu++$standard -O2 -fPIC -shared -fvisibility=hidden -w -D_GNU_SOURCE \
    -I "$here" -isystem "$include" -isystem "$include/torch/csrc/api/include"
! grep -q '_GLIBCXX_USE_CXX11_ABI=0' "$torch/share/cmake/Torch/TorchConfig.cmake" 2>/dev/null || set -- "$@" -D_GLIBCXX_USE_CXX11_ABI=0
cuda=
for folder in "$torch"/../nvidia/cu[0-9]*/include "$torch"/../nvidia/cuda_runtime/include "${CUDA_HOME:-/usr/local/cuda}/include"; do
    [ -z "$cuda" ] && [ -e "$folder/cuda_runtime_api.h" ] && [ -e "$torch/lib/libtorch_cuda.so" ] || continue
    cuda=yes
    set -- "$@" -DORCH_TORCH_CUDA=1 -isystem "$folder"
done
# GLib's headers and library lie inside a wheel; another installation has those of the system
glib=$(ls "$here"/../../../lib/orch/lib/libglib-2.0*.so* 2>/dev/null | head -n 1)
if [ -n "$glib" ]; then
    set -- "$@" -I "$here/glib"
else
    # shellcheck disable=SC2046
    set -- "$@" $(pkg-config --cflags glib-2.0 2>/dev/null) || { say 'GLib has no headers here (Debian: libglib2.0-dev)'; exit 4; }
fi

# at::parallel_for is a loop of one thread where it is compiled without OpenMP
threads=$("$here/openmp_runtime.sh" "$torch/lib") || threads=
case $threads in
*gomp*) "${CXX:-c++}" -dM -E -x c++ /dev/null | grep -q __clang__ && threads= ;;
esac
case $threads in
/*) set -- "$@" -fopenmp -Wl,-rpath,"${threads%/*}" ;;
?*) set -- "$@" -fopenmp ;;
esac

# ---- compile -------------------------------------------------------------------------------------------
command -v "${CXX:-c++}" >/dev/null || { say "there is no C++ compiler '${CXX:-c++}'"; exit 4; }
command -v "${CC:-cc}" >/dev/null || { say "there is no C compiler '${CC:-cc}'"; exit 4; }
# the same flags as in CMakeLists.txt of plugins/common/torch: no product is fused into a sum but where the source does it
loop() { # loop SOURCE [FLAG...]
    source=$1
    shift
    "${CC:-cc}" -std=gnu17 -fPIC -fvisibility=hidden -w -D_GNU_SOURCE -I "$here" "$@" -c "$here/plugins/common/torch/$source.c" -o "$out/${source##*/}.o" >&2 || exit 5
}
loop adapter/norm_loops -O3 -fno-math-errno -fno-trapping-math
loop adapter/update_loops -O3 -ffp-contract=off -fno-math-errno -fno-trapping-math
loop scaler -O2
loop adapter/pixels_missing -O2
# LibTorch's headers are parsed once: an eighth of the time
for source in "$here"/plugins/common/torch/adapter/*.cpp; do printf '#include "%s"\n' "plugins/common/torch/adapter/${source##*/}"; done >"$out/adapter.cpp"
libraries="$(ls "$here"/../../../lib/orch/lib/libjansson*.so* 2>/dev/null | head -n 1)"
set -- "$@" "$out/adapter.cpp" -o "$out/orch-torch.so" -Wl,-z,relro,-z,now,-z,defs,--as-needed \
    "$out"/*.o "$archives/liborch_net.a" "$archives/liborch_base.a" \
    ${threads:+"$threads"} -Wl,--no-as-needed "$torch/lib/libtorch.so" -Wl,--as-needed "$torch/lib/libtorch_cpu.so" "$torch/lib/libc10.so" -Wl,-rpath,"$torch/lib"
[ -z "$cuda" ] || set -- "$@" "$torch/lib/libtorch_cuda.so" "$torch/lib/libc10_cuda.so"
if [ -n "$glib" ]; then
    set -- "$@" "$glib" ${libraries:+"$libraries"} -Wl,-rpath,"$(dirname -- "$glib")"
else
    set -- "$@" -lglib-2.0 -ljansson
fi
"${CXX:-c++}" "$@" -ldl -lm -lpthread >&2 || exit 5
rm -f "$out/adapter.cpp" "$out"/*.o
printf '%s\n' "$version" >"$out/orch-torch.version"
{ printf '%s\n' "$torch/lib/libtorch_cpu.so"; stat -L -c '%s %Y' "$torch/lib/libtorch_cpu.so"; } >"$out/orch-torch.library"
printf '%s\n%s\n' "$torch" "$version"
