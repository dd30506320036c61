# './build.sh torch' prints which LibTorch it uses and why, and later commands keep the choice of --torch. A stand-in
# for cmake records the configuration, so nothing is built.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
unset Torch_DIR CONDA_PREFIX ORCH_BUILD_DIR
for probe in g++ ninja pkg-config protoc-c make; do command -v $probe >/dev/null || skip "no $probe"; done
cmake=$(command -v cmake)
cat >"$SCRATCH/bin/cmake" <<C
#!/bin/sh
case "\$*" in *" -P "* | --version) exec "$cmake" "\$@" ;; esac
echo "\$*" >>"$SCRATCH/configured"; mkdir -p build; : >>build/CMakeCache.txt
C
printf '#!/bin/sh\n' >"$SCRATCH/bin/ninja"
chmod +x "$SCRATCH/bin/cmake" "$SCRATCH/bin/ninja"
mkdir -p tree/cmake
cp "$SOURCE/build.sh" tree/
cp "$SOURCE/cmake/torch_find.cmake" tree/cmake/
cd tree || exit 1
torch() {
    mkdir -p "$1/share/cmake/Torch" "$1/include/ATen" "$1/include/torch/headeronly" "$1/lib"
    touch "$1/share/cmake/Torch/TorchConfig.cmake" "$1/include/ATen/ATen.h" "$1/lib/libtorch.so" "$1/__init__.py"
    printf '#define TORCH_VERSION_MAJOR %s\n#define TORCH_VERSION_MINOR 0\n#define TORCH_VERSION_PATCH 0\n' "$2" >"$1/include/torch/headeronly/version.h"
}
torch "$SCRATCH/py/torch" 99
torch "$SCRATCH/prefix" 98
mkdir "$SCRATCH/empty"
export ORCH_PREFIX=$SCRATCH/prefix PYTHONPATH=$SCRATCH/py # a prefix: nothing is installed with apt
configured() { tail -n 1 "$SCRATCH/configured"; }
build() {
    _run ./build.sh "$@"
    case $err in *'missing for'*) skip "a library of orch's is not installed" ;; esac
}

build torch
[ $status = 0 ] || _fail "status $status"
says "LibTorch: 99.0.0 of python3, $SCRATCH/py/torch/lib (newer than 98.0.0 of the system"
out=$(configured)
has -DORCH_TORCH=on
has -DORCH_TORCH_FROM=auto
build torch --torch "$SCRATCH/prefix"
says 'LibTorch: 98.0.0 of the chosen folder'
out=$(configured)
has "-DORCH_TORCH_FROM=$SCRATCH/prefix"
rm "$SCRATCH/configured"
build build
build torch
says '98.0.0 of the chosen folder' # it is remembered
grep -v -e "-DORCH_TORCH_FROM=$SCRATCH/prefix" "$SCRATCH/configured" && _fail 'forgotten'
build torch --torch=python
says '99.0.0 of python3'
out=$(configured)
has -DORCH_TORCH_FROM=python
build torch --torch "$SCRATCH/empty"
same $status 1
says "'$SCRATCH/empty' has no LibTorch: looked for TorchConfig.cmake in it"
build torch --torch nowhere
same $status 1
says "--torch: 'nowhere' is no folder, nor auto, debian or python"
build torch --torch
same $status 1
says '--torch needs auto, debian, python or a folder'
build torch --tosh
same $status 1
says "unknown argument '--tosh'"
build torch
says '99.0.0 of python3' # a mistake changes nothing
build torch --torch auto
says '99.0.0 of python3'
out=$(configured)
has -DORCH_TORCH_FROM=auto
