# A training stores the number of images of each class as a table, and the report shows it.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
[ -e "$BUILD/plugins/common/orch-torch.so" ] || export ORCH_TORCH=$BUILD/tests/plugins/tiny-torch.so # built without LibTorch
cat >t.recipe <<'R'
format: 1
recipe: t
experiments:
  small:
    plugin: train
    with: { dataset: synthetic, image_size: 16, net: "mlp:8", epochs: 2, batch: 32, classes: [4, 1, 2], per_class: 20, val_images: 20 }
report:
  - { question: "1", title: Classes, listing: { artifact: classes, bars: training images } }
  - { question: "2", title: Rate, plot: { x: epoch, y: lr } }
  - { question: "3", title: Samples, images: { artifact: samples } }
R
ok orch run t.recipe -q
ok orch report t.recipe --json
python3 - "$SCRATCH/out" <<'P' || _fail 'images of each class'
import json, os, sys
listing, rate, samples = json.load(open(sys.argv[1]))["sections"]
rows = [block["rows"] for block in listing["blocks"] if block.get("rows")][0]
assert len(rows) == 3 and [row["training_images"] for row in rows] == [20, 20, 20], rows
assert [row["class"] for row in rows] == [4, 1, 2] and all(row["validation_images"] > 50 for row in rows), rows # as the recipe orders them
bars = [block["chart"] for block in listing["blocks"] if block.get("chart")][0]
assert [p["y"] for p in bars["series"][0]["points"]] == [20, 20, 20] and bars["x_names"] == ["4", "1", "2"]
curve = [block["chart"] for block in rate["blocks"] if block.get("chart")][0]
assert [p["x"] for p in curve["series"][0]["points"]] == [1, 2], curve
P
has_not missing
