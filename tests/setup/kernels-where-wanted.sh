# CUDA kernels are compiled for the GPUs of the machine, or where they are asked for: not wherever nvcc is installed.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
unset CUDACXX CUDA_HOME CUDA_PATH
sed 's#/usr/local/cuda}#/none}#' "$SOURCE/build.sh" >build.sh
chmod +x build.sh
mkdir stub
stub() {
    cat >"stub/$1"
    chmod +x "stub/$1"
}
stub dpkg-query <<'S'
#!/bin/bash
for name; do [[ $name = [-\$]* ]] || echo "installed $name"; done
S
# configures nothing, and notes what it was called with; what nvcc can do is as WORKS says
stub cmake <<'S'
#!/bin/bash
[[ $* = *' -P '* ]] && { echo '-- found: LibTorch 2.0.0 of a stub'; exit; }
[[ $* = *--install* || $1 = --version ]] && exit
touch build/build.ninja
echo "$*" >configured
for word; do case $word in -DORCH_CUDA=*) on=${word#*=} ;; esac done
found= why='ORCH_CUDA=off'
[ "$on" != on ] || { why='nvcc is broken'; [ "$WORKS" != 1 ] || found='for 90-real, by nvcc'; }
printf 'ORCH_CUDA_FOUND:INTERNAL=%s\nORCH_CUDA_WHY_NOT:INTERNAL=%s\n' "$found" "$why" >build/CMakeCache.txt
S
stub ctest <<<'#!/bin/sh
mkdir -p build/Testing/Temporary; : >build/Testing/Temporary/LastTest.log'
stub nvidia-smi <<'S'
#!/bin/sh
[ -n "$GPU" ] || exit 9
case $1 in
    --query-gpu=compute_cap,name) [ "$GPU" != old ] || exit 2; echo "$GPU, NVIDIA Some GPU" ;;
    -L) echo 'GPU 0: NVIDIA Old GPU (UUID: GPU-1)' ;;
esac
S
for name in ninja nvcc orch python3; do stub $name <<<'#!/bin/sh'; done
PATH=$PWD/stub:$PATH
export ORCH_BUILD_DIR=build GPU= WORKS=1
# kernels WANTED COMMAND...: what is configured for kernels in a tree that 'build' was run in
kernels() {
    local wanted=$1
    shift
    ok ./build.sh "$@"
    same "$(grep -o 'ORCH_CUDA[A-Z_]*=[^ ]*' configured | tr '\n' ' ')" "$wanted" "kernels of '$*'"
}
fresh() {
    rm -rf build
    mkdir build
    cp stub/orch build/orch
}
fresh
kernels 'ORCH_CUDA=off ' build
says "no GPU: GPU trials are skipped; no kernels were compiled ('./build.sh gpu' compiles them)"
kernels 'ORCH_CUDA=off ' torch
printf 'format: 1\nrecipe: r\nexperiments:\n  nap: { plugin: sleep }\n' >r.recipe
kernels 'ORCH_CUDA=off ' run r.recipe
for command in gpu all 'install --prefix D' 'test -R none'; do
    fresh
    # shellcheck disable=SC2086
    kernels 'ORCH_CUDA=on ORCH_CUDA_FOR=all ' $command
    kernels 'ORCH_CUDA=on ORCH_CUDA_FOR=all ' build # they are kept
done
says 'no GPU: GPU trials are skipped; kernels for 90-real, by nvcc'
# the GPU of the machine; in a tree that was used with another GPU, that one as well
fresh
GPU=9.0
kernels 'ORCH_CUDA=on ORCH_CUDA_FOR=90 ' build
says 'NVIDIA Some GPU; kernels for 90-real, by nvcc'
GPU=8.0
kernels 'ORCH_CUDA=on ORCH_CUDA_FOR=80,90 ' build
GPU=
kernels 'ORCH_CUDA=on ORCH_CUDA_FOR=80,90 ' torch
kernels 'ORCH_CUDA=on ORCH_CUDA_FOR=all ' gpu
# a driver that does not say compute capabilities
fresh
GPU=old
kernels 'ORCH_CUDA=on ORCH_CUDA_FOR=all ' build
says 'NVIDIA Old GPU; kernels'
# a tree that an earlier build.sh configured
fresh
GPU=
echo 'CMAKE_CUDA_COMPILER:FILEPATH=/somewhere/nvcc' >build/CMakeCache.txt
kernels 'ORCH_CUDA=on ORCH_CUDA_FOR=all ' build
# an nvcc that does not work: said, and an error where kernels were asked for
fresh
WORKS=0
GPU=9.0
kernels 'ORCH_CUDA=on ORCH_CUDA_FOR=90 ' build
says 'NVIDIA Some GPU; no kernels, because nvcc is broken'
fails 1 ./build.sh gpu
says 'no CUDA kernels were compiled: nvcc is broken'
# no nvcc
fresh
rm stub/nvcc
if ! command -v nvcc >/dev/null; then
    ok ./build.sh build
    says 'NVIDIA Some GPU; no kernels, because there is no CUDA compiler (nvcc)'
    fails 1 ./build.sh gpu
    says 'there is no CUDA compiler: nvcc is not on the PATH'
    says_not building
fi

# which architectures cmake/cuda.cmake chooses of those that an nvcc knows
printf '#!/bin/sh\necho compute_75 compute_80 compute_86 compute_90\n' >stub/nvcc
chmod +x stub/nvcc
cat >architectures.cmake <<C
cmake_policy(VERSION 3.20)
include($SOURCE/cmake/cuda.cmake)
orch_cuda_architectures(chosen)
message(STATUS "chosen: \${chosen}.")
C
PATH=${PATH#*/stub:}
architectures() { # architectures WANTED FOR
    ok cmake -DCMAKE_CUDA_COMPILER="$PWD/stub/nvcc" -DORCH_CUDA_FOR="$2" -P architectures.cmake
    has "chosen: $1."
}
architectures '75-real;80-real;90' all
architectures 90-real 90
architectures '86-real;90-real' 86,90
architectures 80-virtual 82
architectures '86-real;90-virtual' 86,100,120
architectures '' 35
