# A sweep of batch sizes until memory is full: with out_of_memory: skip, a trial that does not fit is skipped with the
# reason, at its start or during training; without it, and for any other fault, the trial fails.
# test: slow timeout=1200
. "$(dirname "$0")/../cli/lib.sh"
[ -e "$BUILD/tests/mpi/mpi_sum.so" ] || skip 'built without MPI (libopenmpi-dev, openmpi-bin)'
command -v mpirun >/dev/null || skip 'no mpirun on the PATH'
export ORCH_TORCH=$BUILD/tests/plugins/tiny-torch.so
cat >t.recipe <<R
format: 1
recipe: t
experiments:
  full:
    plugin: scaling
    retries: 0
    with: { dataset: synthetic, image_size: 16, net: "mlp:8", epochs: 2, batch: 24, per_class: 20, val_images: 10, full_validation: false,
            layout: plain, threads: 1, loader_threads: 0, out_of_memory: skip }
R
# ends STATE REASON OPTION...
ends() {
    local state=$1 reason=$2
    shift 2
    _run orch run t.recipe --force -q "$@"
    ok orch show @last --json
    same "$(json state)" "$state" "the state of $*"
    out=$(json reason)
    has "$reason"
}
export TINY_TORCH_FAIL=train:3 TINY_TORCH_FAIL_TEXT='LibTorch: CUDA out of memory. Tried to allocate 2.00 GiB'
ends skipped 'memory is full at 12 images a worker: ' -s workers=2
has 'Tried to allocate 2.00 GiB'
ends skipped 'memory is full at 24 images a worker: ' -s workers=1
ends failed 'out of memory' -s out_of_memory=fail
TINY_TORCH_FAIL=model_new ends skipped 'memory is full at 12 images a worker: ' -s workers=2
TINY_TORCH_FAIL_TEXT="LibTorch: DefaultCPUAllocator: can't allocate memory" ends skipped 'memory is full at 12 images' -s workers=2
unset TINY_TORCH_FAIL_TEXT
ends failed 'train failed on purpose' -s workers=2
exit 0
