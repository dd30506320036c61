# The plugin scaling with LibTorch: without batch norm two workers learn the same as one; with local batch norms their
# weights and statistics are equal to the last bit, and buckets are reduced during the backward pass.
# test: slow timeout=1200
. "$(dirname "$0")/../cli/lib.sh"
[ -e "$BUILD/tests/mpi/mpi_sum.so" ] || skip 'built without MPI (libopenmpi-dev, openmpi-bin)'
command -v mpirun >/dev/null || skip 'no mpirun on the PATH'
[ -e "$BUILD/plugins/common/orch-torch.so" ] || skip 'built without LibTorch'
small='dataset: synthetic, image_size: 32, per_class: 16, val_images: 64, full_validation: false, epochs: 2, batch: 32, lr: 0.02, threads: 1, layout: plain, first_bucket_bytes: 8KiB, bucket_bytes: 32KiB'
cat >t.recipe <<R
format: 1
recipe: t
experiments:
  plain: { plugin: scaling, with: { $small, net: lenet5 }, sweep: { workers: [1, 2] } }
  norms: { plugin: scaling, with: { $small, net: "resnet-cifar:8" }, sweep: { workers: [1, 2] } }
  shared: { plugin: scaling, with: { $small, net: "resnet-cifar:8", workers: 2, batch_norm: synchronised }, sweep: { overlap: [true, false] } }
  packed: { plugin: scaling, with: { $small, net: "resnet-cifar:8", workers: 2, batch_norm: synchronised, compression: bf16 } }
R
ok orch run t.recipe -q
ok orch export --format json
cp "$SCRATCH/out" runs.json
out=
python3 - runs.json <<'P' || _fail 'what the trainings give'
import json, sys
runs = json.load(open(sys.argv[1]))
one, two = sorted((r for r in runs if r["experiment"] == "plain"), key=lambda r: r["param.workers"])
for name in "metric.train_loss", "metric.step_loss", "result.final_loss", "metric.val_loss":
    assert abs(one[name] - two[name]) < 1e-4, (name, one[name], two[name])
whole, norms = sorted((r for r in runs if r["experiment"] == "norms"), key=lambda r: r["param.workers"])
for run in two, norms:
    assert run["state"] == "ok" and run["result.buckets"] >= 3 and 0 <= run["result.overlap"] <= 1, run
    assert run["result.reduced_bytes"] == run["result.parameter_bytes"] == 4 * run["result.trained_params"], run
# with the statistics of both workers a network with batch norm learns what one worker learns; with those of each it does not
shared = [r for r in runs if r["experiment"] == "shared"]
assert len(shared) == 2
for name in "metric.train_loss", "result.final_loss":
    assert abs(whole[name] - norms[name]) > 1e-3, (name, whole[name], norms[name])
    for run in shared:
        assert abs(whole[name] - run[name]) < 1e-4, (name, whole[name], run[name])
for run in shared:
    assert run["result.reduced_bytes"] > run["result.parameter_bytes"], run
packed, = (r for r in runs if r["experiment"] == "packed")
assert 0 < packed["result.compression_error"] < 1e-2, packed
P
# not only at the end: the loss of every step
ok orch export --what points -m step_loss -c key,experiment,workers --format json
python3 - "$SCRATCH/out" <<'P' || _fail 'the loss of each step'
import json, sys
curves = {}
for p in json.load(open(sys.argv[1])):
    name = p["experiment"], int(p.get("param.workers", p.get("workers"))), p["key"]
    curves.setdefault(name, {})[int(p["step"])] = float(p["value"])
one = {experiment: c for (experiment, workers, _), c in curves.items() if workers == 1}
assert len(one["plain"]) > 1 and len(one["norms"]) > 1, one
def apart(curve, other):
    assert curve.keys() == other.keys(), (curve, other)
    return max(abs(curve[step] - other[step]) for step in curve)
pairs = [(experiment, apart(c, one["plain" if experiment == "plain" else "norms"]))
         for (experiment, workers, _), c in curves.items() if workers == 2 and experiment != "packed"]
assert sorted(name for name, _ in pairs) == ["norms", "plain", "shared", "shared"], pairs
for name, distance in pairs:
    assert distance > 1e-3 if name == "norms" else distance < 1e-4, pairs
P
ok orch show @last
has 'weights of all workers: SHA-256'
# the conformance run starts as many workers as the parameters say
ok orch plugin check scaling -s workers=3 -s dataset=synthetic -s image_size=32 -s per_class=16 -s net=lenet5 -s batch=48 -s threads=1
