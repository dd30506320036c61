# train with target_accuracy stops at the target and reports the time until then. A run that does not reach it has no
# such time and does not fail. Without a target nothing changes. With a stand-in for LibTorch.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
export ORCH_TORCH=$BUILD/tests/plugins/tiny-torch.so
cat >t.recipe <<'R'
format: 1
recipe: t
experiments:
  easy:
    plugin: train
    with: { dataset: synthetic, image_size: 16, net: "mlp:8", epochs: 5, batch: 32, per_class: 4, val_images: 30, target_accuracy: 0.01 }
    repeat: 3
  never:
    plugin: train
    with: { dataset: synthetic, image_size: 16, net: "mlp:8", epochs: 2, batch: 32, per_class: 4, val_images: 30, lr: 0, target_accuracy: 1 }
  none:
    plugin: train
    with: { dataset: synthetic, image_size: 16, net: "mlp:8", epochs: 2, batch: 32, per_class: 4, val_images: 30 }
R
ok orch run t.recipe -q
ok orch export --format json
python3 - "$SCRATCH/out" <<'P' || _fail 'the results of a target'
import json, sys
runs = json.load(open(sys.argv[1]))
assert len(runs) == 5, len(runs)
for run in runs:
    r = {name[7:]: value for name, value in run.items() if name.startswith("result.") and value is not None}
    times = ["time_to_accuracy", "time_to_accuracy_with_validation", "epochs_to_accuracy"]
    assert run["state"] == "ok", run
    if run["experiment"] != "easy":
        assert not any(name in r for name in times), r
        assert r.get("reached_target") == (0 if run["experiment"] == "never" else None), r
        continue
    assert r["reached_target"] == 1 and 1 <= r["epochs_to_accuracy"] < 5, r
    assert 0 < r["time_to_accuracy"] < r["time_to_accuracy_with_validation"], r
    assert r["time_to_accuracy"] == r["training_time"] and r["final_accuracy"] >= 0.01, r
P

# out of range
sed -i 's/target_accuracy: 1 }/target_accuracy: 92 }/' t.recipe
fails 2 orch plan t.recipe
says 'target_accuracy'
