# Plugin onnxrun exports networks of the zoo and compares every engine of this machine with LibTorch: classifiers, a detector
# with two outputs for each map (4x4, 2x2 and a single cell), a trained network, and batch norms as part of convolutions.
# test: slow torch
. "$(dirname "$0")/../cli/lib.sh"
[ -e "$BUILD/plugins/common/orch-torch.so" ] || skip 'built without LibTorch (./build.sh torch)'
cat >a.recipe <<'R'
format: 1
recipe: a
about: engines beside the trainer
experiments:
  train: { plugin: train, with: { net: "resnet-cifar:8", dataset: synthetic, image_size: 16, epochs: 1, per_class: 20, val_images: 20, full_validation: false } }
  trained: { plugin: onnxrun, with: { net: "resnet-cifar:8", weights: "${train.weights}", images: synthetic, input: 3x16x16, count: 8, repeats: 2, batch: 8 }, sweep: { engine: [onnxruntime, opencv] } }
  fresh: { plugin: onnxrun, with: { net: lenet5, count: 8, repeats: 2 }, sweep: { engine: [onnxruntime, opencv] } }
  folded: { plugin: onnxrun, with: { net: "resnet-cifar:8", weights: "${train.weights}", input: 3x16x16, count: 8, repeats: 2, fold_norms: true, opset: 13 }, sweep: { engine: [onnxruntime, opencv] } }
  detector: { plugin: onnxrun, with: { net: "ssd-small:4", input: 3x32x32, count: 4, repeats: 2, batch: 3 }, sweep: { engine: [onnxruntime, opencv] } }
R
ok orch run a.recipe
ok orch ls --json -n 0 --where 'plugin = onnxrun and state = skipped'
python3 -c 'import json, sys
for engine in sorted({r["setting"]["engine"] for r in json.load(sys.stdin)["runs"]}):
    print("skipped: engine", engine, "is not installed")' <<<"$out"
ok orch ls --json -n 0 --where 'plugin = onnxrun and state = ok'
keys=$(python3 -c 'import json, sys; print(*[r["key"] for r in json.load(sys.stdin)["runs"]])' <<<"$out")
[ "$keys" ] || exit 77
for key in $keys; do
    ok orch show "$key" --json
    python3 - "$out" <<'P' || _fail 'the engine and LibTorch differ'
import json, sys
run = json.loads(sys.argv[1])
results = run["results"]
# values of these networks are of the size of 1: 1e-4 is far above rounding and far below any fault
assert 0 < results["random_absolute"] < 1e-4 and results["random_tolerance"] < 1e-3, results
assert results["random_same_top"] >= 0.99, results
if run["experiment"] == "trained":
    assert results["real_tolerance"] < 1e-3 and results["real_same_top"] == 1 and "accuracy" in results, results
assert results["trainer_latency"] > 0 and results["latency"] > 0, results
assert results["opset"] == (13 if run["experiment"] == "folded" else 17), results
assert any(a["name"] == "onnx" for a in run["artifacts"])
P
done
