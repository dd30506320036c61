# The plugin allreduce on GPUs: NCCL's ring, tree and default algorithm and the hierarchical sum, timed by CUDA events,
# with stand-ins for NCCL and the CUDA runtime. Without GPUs or libraries a trial is skipped with the reason.
# test: slow timeout=900
. "$(dirname "$0")/../cli/lib.sh"
[ -e "$BUILD/tests/mpi/fake_nccl.so" ] || skip 'built without MPI (libopenmpi-dev, openmpi-bin)'
command -v mpirun >/dev/null || skip 'no mpirun on the PATH'
export ORCH_CUDART=$BUILD/tests/mpi/fake_nccl.so ORCH_NCCL=$BUILD/tests/mpi/fake_nccl.so ORCH_SYSTEM_METRICS=off
cat >a.recipe <<R
format: 1
recipe: a
experiments:
  sizes:
    plugin: allreduce
    with: { device: cuda, workers: 4, workers_per_node: 2, bytes: [4, 37KiB, 1MiB], repeats: 4, warmup: 2 }
    sweep: { algorithm: [auto, ring, segmented_ring, reduce_broadcast, hierarchical] }
  one: { plugin: allreduce, with: { device: cuda, bytes: 4KiB, repeats: 1, warmup: 1 } }
R
ok orch run a.recipe sizes -q
ok orch export --format json
cp "$SCRATCH/out" runs.json
out=
python3 - runs.json <<'P' || _fail 'what was measured'
import json, sys
runs = json.load(open(sys.argv[1]))
assert len(runs) == 5
for r in runs:
    assert r["state"] == "ok" and abs(r["result.bus_factor"] - 1.5) < 1e-12 and r["result.worker_count"] == 4, r
    time = r["metric.time"]  # of the last size
    assert time >= r["metric.min_time"] > 0 and r["metric.timed_repeats"] >= 3, r
    assert abs(r["metric.algorithm_bandwidth"] * 1e9 * time / (1 << 20) - 1) < 1e-9, r
    assert abs(r["metric.bus_bandwidth"] / r["metric.algorithm_bandwidth"] - 1.5) < 1e-9, r
P
# the formula of the fit is NCCL's, whose tree is pipelined
note() {
    ok orch ls --where "algorithm = $1" --json
    ok orch show "$(json runs.0.key)"
    has "$2"
}
note ring 'fitted: t = 2 (n-1) a + 2 (n-1)/n S/B, n = 4'
note reduce_broadcast 'fitted: t = 2 ceil(log2 n) a + 2 (n-1)/n S/B, n = 4'
note hierarchical 'fitted: t = 2 (k-1) a + 2 S/B + 2 (m-1) a + 2 (m-1)/m S/B, k workers on each of m nodes, n = 4'
note auto 'fitted: t = a + S/B (of the whole call), n = 4'
# ends STATE REASON [-s ...]: one trial
ends() {
    local state=$1 reason=$2
    shift 2
    _run orch run a.recipe one -q --force "$@"
    ok orch show @last --json
    same "$(json state)" "$state" "states ($reason)"
    case $(json reason) in *"$reason"*) ;; *) _fail "reason: $(json reason)" ;; esac
}
ends failed "NCCL does not have algorithm 'linear'" -s algorithm=linear
FAKE_NCCL_FAIL=cudaMalloc ends failed 'CUDA: allocating the largest of bytes failed: invalid on purpose'
FAKE_NCCL_FAIL=ncclCommInitRank ends failed 'NCCL: ncclCommInitRank failed'
FAKE_CUDA_DEVICES=1 ends skipped '2 workers on a machine need a GPU each, but the trial has 1: set resources: { gpus: 2 }'
FAKE_NCCL_FAIL=cudaGetDeviceCount ends skipped 'there is no GPU: invalid on purpose'
ORCH_NCCL=/nowhere/libnccl.so.2 ends skipped 'there is no libnccl'
ORCH_CUDART=/nowhere/libcudart.so ends skipped 'there is no libcudart'
fails 2 orch run a.recipe one -q -s device=gpu
says 'device'
