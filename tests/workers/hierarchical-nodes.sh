# The hierarchical all-reduce with several nodes on one machine (workers_per_node): correct sums for equal and unequal
# nodes, and the loss curve of one worker, step by step, on processors and with the stand-in for NCCL.
# test: slow timeout=1200
. "$(dirname "$0")/../cli/lib.sh"
[ -e "$BUILD/tests/mpi/mpi_sum.so" ] || skip 'built without MPI (libopenmpi-dev, openmpi-bin)'
command -v mpirun >/dev/null || skip 'no mpirun on the PATH'
export ORCH_TORCH=$BUILD/tests/plugins/tiny-torch.so
small='dataset: synthetic, image_size: 16, net: "mlp:8", epochs: 2, per_class: 20, val_images: 30, layout: plain, threads: 1, loader_threads: 0, batch: 24'
cat >h.recipe <<R
format: 1
recipe: h
experiments:
  sums: { plugin: allreduce, with: { workers: 4, algorithm: hierarchical, bytes: [4, 4KiB, 1MiB], repeats: 3, warmup: 1 }, sweep: { workers_per_node: [0, 2, 3] } }
  one: { plugin: scaling, with: { $small, workers: 1 } }
  nodes: { plugin: scaling, with: { $small, workers: 4, algorithm: hierarchical, first_bucket_bytes: 1 }, sweep: { workers_per_node: [0, 2, 3] } }
R
ok orch run h.recipe -q
# the formula that the fit uses has as many messages as the nodes need: k workers on each of m nodes
ok orch ls --where 'experiment = sums' --json
same "$(json runs.#)" 3
ok orch export --format json
python3 - "$SCRATCH/out" <<'P' || _fail 'the curves'
import json, sys
runs = json.load(open(sys.argv[1]))
names = "result.final_loss", "metric.train_loss", "metric.step_loss", "metric.val_error"
one = next(r for r in runs if r["experiment"] == "one")
nodes = [r for r in runs if r["experiment"] == "nodes"]
assert len(nodes) == 3 and all(r["state"] == "ok" for r in runs), [r["state"] for r in runs]
for run in nodes:
    for name in names:
        assert abs(run[name] - one[name]) < 1e-5, (run["param.workers_per_node"], name, run[name], one[name])
P
ok orch export --what points -m step_loss -c key,experiment,workers_per_node --format json
python3 - "$SCRATCH/out" <<'P' || _fail 'the loss of each step'
import json, sys
curves = {}
for p in json.load(open(sys.argv[1])):
    curves.setdefault((p["experiment"], p["key"]), {})[int(p["step"])] = float(p["value"])
one, = (c for (name, _), c in curves.items() if name == "one")
nodes = [c for (name, _), c in curves.items() if name == "nodes"]
assert len(one) > 1 and len(nodes) == 3, (len(one), len(nodes))
for curve in nodes:
    assert curve.keys() == one.keys() and all(abs(curve[s] - one[s]) < 1e-5 for s in one), (curve, one)
P
# on GPUs: a reduction and a broadcast by NCCL in each node, an all-reduce between their first GPUs
export TINY_TORCH_CUDA=4 ORCH_CUDART=$BUILD/tests/mpi/fake_nccl.so ORCH_NCCL=$BUILD/tests/mpi/fake_nccl.so
sed -i '/  nodes:/s/workers: 4, /workers: 4, device: cuda, /; s/\[0, 2, 3\]/[0, 1, 3]/' h.recipe
ok orch run h.recipe nodes -q
ok orch export --format json
python3 - "$SCRATCH/out" <<'P' || _fail 'the curves of the stand-in for NCCL'
import json, sys
runs = json.load(open(sys.argv[1]))
one = next(r for r in runs if r["experiment"] == "one")
gpu = [r for r in runs if r["experiment"] == "nodes" and r["param.device"] == "cuda"]
assert len(gpu) == 3, len(gpu)
for run in gpu:
    assert abs(run["result.final_loss"] - one["result.final_loss"]) < 1e-5, (run["param.workers_per_node"], run["result.final_loss"])
P
for failing in ncclReduce ncclBroadcast ncclCommInitRank; do
    FAKE_NCCL_FAIL=$failing _run orch run h.recipe nodes -q --force -x nodes.workers_per_node=3
    [ $status = 1 ] || _fail "status $status: $failing"
    ok orch show @last --json
    out=$(json reason)
    has 'on purpose'
done
exit 0
