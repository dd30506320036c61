# The plugin judge: a saved network, evaluated on the images of its training, has the accuracy of that training; also
# folders of images with classes by name, and bad input. With a stand-in for LibTorch.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
export ORCH_TORCH=$BUILD/tests/plugins/tiny-torch.so ORCH_DATA=$SCRATCH/data
mkdir -p "$ORCH_DATA"
python3 - "$ORCH_DATA" <<'P'
import os, struct, sys, zlib
def png(path, value, side=20):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    rows = b"".join(b"\0" + bytes((value + 3 * x + y) % 256 for x in range(side) for _ in "rgb") for y in range(side))
    chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    open(path, "wb").write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)) +
                           chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
root = sys.argv[1]
for label, count in ((3, 4), (7, 2)):
    for i in range(count):
        png("%s/wild/test/%d/%d.png" % (root, label, i), 40 * label + i)
png(root + "/other/test/zebra/1.png", 9)
os.makedirs(root + "/empty/test")
os.makedirs(root + "/hollow/test/3")
P
net='dataset: synthetic, image_size: 16, net: "mlp:8"'
cat >j.recipe <<R
format: 1
recipe: j
experiments:
  base: { plugin: train, with: { $net, epochs: 3, batch: 32, per_class: 30, layout: plain }, repeat: 2 }
  same: { plugin: judge, with: { $net, weights: "\${base.weights}", images: synthetic }, repeat: 2 }
  wild: { plugin: judge, with: { $net, weights: "\${base.weights}", images: wild }, repeat: 2 }
  inverted: { plugin: judge, with: { $net, weights: "\${base.weights}", images: synthetic, invert: true } }
  few: { plugin: judge, with: { $net, weights: "\${base.weights}", images: wild, per_class: 1, transforms: [crop 2, flip, cutout 4] } }
  another: { plugin: judge, with: { $net, net: "mlp:9", weights: "\${base.weights}", images: synthetic } }
report:
  - { question: "1", title: Each model, table: { rows: repeat, columns: experiment, value: result accuracy, experiments: [same, wild] } }
  - { question: "2", title: Mean and deviation, table: { rows: experiment, value: result accuracy, deviation: true, experiments: [same, wild] } }
  - { question: "3", title: By class, listing: { artifact: by_class, experiments: wild } }
R
sed -i 's/, net: "mlp:8", net: "mlp:9"/, net: "mlp:9"/' j.recipe
ok orch run j.recipe same wild inverted few -q
ok orch export --format json
python3 - "$SCRATCH/out" <<'P' || _fail 'what is judged'
import json, math, sys
runs = {}
for run in json.load(open(sys.argv[1])):
    runs[run["experiment"], run["repeat"]] = {k[7:]: v for k, v in run.items() if k.startswith("result.") and v is not None}
for repeat in (1, 2):
    base, same, wild = (runs[name, repeat] for name in ("base", "same", "wild"))
    assert same["accuracy"] == base["full_accuracy"], (same, base)
    assert abs(same["loss"] - base["full_loss"]) < 1e-4 and same["judged_images"] == base["val_images_total"], (same, base)
    p, n, z = wild["accuracy"], 6, 1.959963984540054
    middle, half = (p + z * z / 12) / (1 + z * z / 6), z / (1 + z * z / 6) * math.sqrt(p * (1 - p) / 6 + z * z / 144)
    assert abs(wild["accuracy_low"] - max(0, middle - half)) < 1e-12 and abs(wild["accuracy_high"] - min(1, middle + half)) < 1e-12, wild
    assert wild["asked_images"] == 6 and runs["few", 1]["asked_images"] == 10 and runs["few", 1]["judged_images"] == 2, runs["few", 1]
    assert (wild["judged_images"], wild["judged_classes"]) == (6, 2) and abs(wild["accuracy"] * 6 - round(wild["accuracy"] * 6)) < 1e-9, wild
    assert abs(wild["accuracy"] + wild["error"] - 1) < 1e-12 and math.isfinite(wild["loss"]), wild
assert runs["inverted", 1] != runs["same", 1] and runs["inverted", 1]["loss"] != runs["same", 1]["loss"]
assert (runs["few", 1]["judged_images"], runs["few", 1]["judged_classes"]) == (2, 2), runs["few", 1]
P
ok orch report j.recipe same wild
has_not missing
has 'deviation of accuracy'
has 'with n - 1'
ok orch report j.recipe same wild --json
python3 - "$SCRATCH/out" <<'P' || _fail 'the deviation'
import json, statistics, sys
sections = json.load(open(sys.argv[1]))["sections"]
tables = [[b["rows"] for b in s["blocks"] if b["kind"] == "table"][0] for s in sections]
each = [row["same"] for row in tables[0]]
row = [r for r in tables[1] if r["experiment"] == "same"][0]
assert abs(row["deviation_of_accuracy"] - statistics.stdev(each)) < 1e-9, (row, each)
assert {str(r["class"]): int(r["images"]) for r in tables[2]} == {"3": 4, "7": 2}, tables[2]
P
# a checkpoint of another network; images that are not there, or of no class that the network knows
fails 1 orch run j.recipe another -q
says "is not a checkpoint of network 'mlp:9' with 10 classes"
for wrong in 'empty/has no classes' 'hollow/is empty' 'nowhere/was not found'; do
    sed "s/images: wild, per_class/images: ${wrong%%/*}, per_class/" j.recipe >bad.recipe
    fails 2 orch run bad.recipe few -q
    says "${wrong#*/}"
done
sed "s/images: wild, per_class/images: other, per_class/" j.recipe >bad.recipe
fails 1 orch run bad.recipe few -q
says "class 'zebra'"
sed "s/transforms: \[crop 2, flip, cutout 4\]/transforms: [cutout 99]/" j.recipe >bad.recipe
fails 2 orch run bad.recipe few -q
says cutout
sed 's/value: result accuracy, deviation: true/value: result accuracy, columns: repeat, deviation: true/' j.recipe >bad.recipe
fails 2 orch check bad.recipe
says "'deviation' needs a table without 'columns'"
