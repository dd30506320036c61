# The final and the best accuracy of a training are measured on the same images; the accuracy on all validation images
# is a separate result.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
[ -e "$BUILD/plugins/common/orch-torch.so" ] || export ORCH_TORCH=$BUILD/tests/plugins/tiny-torch.so # built without LibTorch
cat >t.recipe <<'R'
format: 1
recipe: t
experiments:
  part:
    plugin: train
    with: { dataset: synthetic, image_size: 16, net: "mlp:8", epochs: 3, batch: 32, per_class: 4, val_images: 30 }
    repeat: 2
  whole:
    plugin: train
    with: { dataset: synthetic, image_size: 16, net: "mlp:8", epochs: 2, batch: 32, per_class: 4, val_images: 0 }
  brief:
    plugin: train
    with: { dataset: synthetic, image_size: 16, net: "mlp:8", epochs: 2, batch: 32, per_class: 4, val_images: 30, full_validation: false }
R
ok orch run t.recipe -q
ok orch export --format json
python3 - "$SCRATCH/out" <<'P' || _fail 'which images an accuracy is of'
import json, sys
runs = json.load(open(sys.argv[1]))
assert len(runs) == 4
differ = 0
for run in runs:
    r = {name[7:]: value for name, value in run.items() if name.startswith("result.")}
    assert r["best_accuracy"] >= r["final_accuracy"], r  # the last epoch is one of those that the best is chosen from
    assert abs(r["final_accuracy"] - run["metric.val_accuracy"]) < 1e-12, run
    assert abs(r["final_loss"] - run["metric.val_loss"]) < 1e-9, run
    assert r["epoch_val_images"] == (r["val_images_total"] if run["experiment"] == "whole" else 30), r
    if run["experiment"] == "brief":  # only the images of every epoch
        assert r.get("full_accuracy") is None and r.get("full_loss") is None and r["final_accuracy"] >= 0, r
        continue
    right = r["full_accuracy"] * r["val_images_total"]
    assert abs(right - round(right)) < 1e-6, r
    differ += r["full_accuracy"] != r["final_accuracy"]
    if run["experiment"] == "whole":
        assert r["full_accuracy"] == r["final_accuracy"] and r["full_loss"] == r["final_loss"], r
assert differ  # 30 images and all of them do not agree every time
P
