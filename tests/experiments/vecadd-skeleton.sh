# 'orch plugin new --skeleton vecadd' writes a CUDA program with an empty kernel. It compiles, reports wrong sums on a
# GPU, is skipped without one, and can replace the plugin vecadd.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
fails 2 orch plugin new mine --skeleton vecad
says vecadd
fails 2 orch plugin new mine --skeleton vecadd --language c
says "option '--language' excludes '--skeleton'"
ok orch plugin new mine --skeleton vecadd --dir plugins/mine
says 'make -C plugins/mine'
fails 2 orch plugin new mine --skeleton vecadd --dir plugins/mine
says 'already exists'
[ -f plugins/mine/mine.cu ] && [ -f plugins/mine/Makefile ] && [ -f plugins/mine/mine.plugin ] || _fail 'three files'
! grep -rq '@NAME@' plugins/mine || _fail 'a placeholder is left'
ok orch plugin show plugins/mine/mine.plugin
has kernel_time
has gpu_1x256
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
[ -x "$nvcc" ] || skip 'no nvcc to compile the skeleton with'
NVCC=$nvcc make -s -C plugins/mine >make.log 2>&1 || {
    cat make.log
    _fail 'the skeleton compiles'
}
cat >m.recipe <<'R'
format: 1
recipe: m
experiments:
  mine:
    plugin: vecadd
    program: "plugins/mine/mine ${millions} ${scenario} ${memory}"
    inputs: [plugins/mine/mine.cu]
    with: { scenario: gpu_grid }
  wrong: { plugin: vecadd, program: "plugins/mine/mine ${millions} ${scenario} ${memory}", with: { scenario: gpu_grid, memory: managed_advice } }
R
git add -A
git commit -qm one
if "$BUILD/test_gpu_vecadd" >/dev/null 2>&1; then
    fails 1 orch run m.recipe mine -q
    says "is the kernel 'add' in mine.cu still empty?"
    for memory in pageable managed; do
        sed -i 's|/\* write it here \*/|for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count; i += (size_t)gridDim.x * blockDim.x) out[i] = a[i] + b[i];|' plugins/mine/mine.cu
        NVCC=$nvcc make -s -C plugins/mine
        ok orch run m.recipe mine -q -s memory=$memory
        ok orch show @last
        has kernel_time
    done
else
    ok orch run m.recipe mine -q
    ok orch show @last
    has 'no CUDA device'
    has skipped
fi
fails 1 orch run m.recipe wrong -q
says usage
