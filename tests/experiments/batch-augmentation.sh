# The plugin batchaug: one copy equals plain training to the last bit, and the gradient of all copies at once equals the
# accumulated one; also times to a target accuracy, the share of time for making copies, the sample picture, resumed
# training and bad input.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
export ORCH_TORCH=$BUILD/tests/plugins/tiny-torch.so
small='dataset: synthetic, image_size: 16, net: "mlp:8", epochs: 3, batch: 32, per_class: 10, val_images: 30, layout: plain'
cut='transforms: ["crop 2", flip, "cutout 8"]'
cat >t.recipe <<R
format: 1
recipe: t
experiments:
  plain: { plugin: train, with: { $small, $cut } }
  one: { plugin: batchaug, with: { $small, $cut }, sweep: { gradient: [at_once, accumulated] } }
  four: { plugin: batchaug, with: { $small, $cut, copies: 4, target_accuracy: 0.01, stop_at_target: false }, sweep: { gradient: [at_once, accumulated] } }
  equal: { plugin: batchaug, with: { $small, transforms: [normalise], target_accuracy: 1, milestones: [2, 50] }, sweep: { copies: [1, 3] } }
R
ok orch run t.recipe -q
ok orch export --format json
cp "$SCRATCH/out" runs.json
python3 - runs.json <<'P' || _fail 'what the trainings give'
import json, sys
runs = {}
for run in json.load(open(sys.argv[1])):
    runs.setdefault(run["experiment"], {})[run.get("param.gradient"), run.get("param.copies")] = run
def numbers(run):
    names = ["final_loss", "full_loss", "final_accuracy", "full_accuracy", "best_accuracy"]
    return [run["result." + n] for n in names] + [run["metric." + n] for n in ("train_loss", "step_loss", "val_error")]
plain, = runs["plain"].values()
for run in runs["one"].values():
    assert numbers(run) == numbers(plain), (numbers(run), numbers(plain))
at_once, accumulated = runs["four"].values()
assert numbers(at_once) != numbers(plain)
for pair in (at_once, accumulated), tuple(runs["equal"].values()):  # the mean over copies: equal but for rounding
    assert len(pair) == 2 and all(abs(a - b) < 1e-4 for a, b in zip(*map(numbers, pair))), list(map(numbers, pair))
for name, group in runs.items():
    for run in group.values() if name != "plain" else []:
        assert 0 < run["metric.copying_share"] and 0 < run["metric.waiting_share"] < 1, run
        reached = run.get("result.reached_target")
        assert reached == {"four": 1, "equal": 0}.get(name), run
        if reached:  # in the first epoch, and trained on
            assert run["result.epochs_to_accuracy"] == 1, run
            time, all_time = run["result.time_to_accuracy"], run["result.training_time"]
            assert 0 < time < all_time and time < run["result.time_to_accuracy_with_validation"], run
            assert run["result.time_to_accuracy_with_validation"] - time < run["result.validation_time"], run
        else:
            assert run.get("result.epochs_to_accuracy") is None and run.get("result.time_to_accuracy") is None, run
P

# the same weights, bit for bit
weights() {
    ok orch ls --where "experiment=$1" --json
    ok orch show "$(json "runs.$2.key")" --json
    printf '%s\n' "$out" | python3 -c 'import json, sys; print(*[a["sha256"] for a in json.load(sys.stdin)["artifacts"] if a["name"] == "weights"])'
}
plain=$(weights plain 0)
same "$(weights one 0)" "$plain" 'weights after one copy'
same "$(weights one 1)" "$plain" 'weights after one copy'
[ "$(weights four 0)" != "$plain" ] || _fail 'four copies give the weights of one'

# notes: how the gradient was computed; what has no effect
ok orch ls --where 'experiment=four and gradient=at_once' --json
four=$(json runs.0.key)
ok orch show "$four"
has 'gradients are of 4 x 32 images at once: batch norms see all 128'
ok orch ls --where 'experiment=four and gradient=accumulated' --json
ok orch show "$(json runs.0.key)"
has 'the gradient is accumulated in 4 passes of 32 images: batch norms see 32 images at once and update their running statistics 4 times a step'
ok orch ls --where 'experiment=equal and copies=3' --json
ok orch show "$(json runs.0.key)"
has 'there are no random transforms: all copies are equal'
has 'only 1 of 2 learning-rate drops fall within the 3 epochs'
ok orch show "$four" --json
same "$(json facts.cost.copies) $(json facts.cost.samples) $(json facts.cost.images)" '4 32 100' 'cost'

# the picture: two rows of six images of 112 pixels, with gaps and names; grey squares where cutout was
orch show "$four" -a copies >copies.png
python3 - copies.png <<'P' || _fail 'the picture of copies'
import struct, sys, zlib
data = open(sys.argv[1], "rb").read()
assert data[:8] == b"\x89PNG\r\n\x1a\n"
at, idat = 8, b""
while at < len(data):
    length, kind = struct.unpack(">I4s", data[at:at + 8])
    body = data[at + 8:at + 8 + length]
    if kind == b"IHDR":
        width, height = struct.unpack(">II", body[:8])
    idat += body if kind == b"IDAT" else b""
    at += 12 + length
raw, line = zlib.decompress(idat), 3 * width + 1
rows, last = [], bytes(3 * width)
def paeth(a, b, c):
    p = a + b - c
    return min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
for y in range(height):
    kind, row = raw[y * line], bytearray(raw[y * line + 1:(y + 1) * line])
    for i in range(len(row)):
        a, b, c = (row[i - 3] if i > 2 else 0), last[i], (last[i - 3] if i > 2 else 0)
        row[i] = row[i] + (0, a, b, (a + b) // 2, paeth(a, b, c))[kind] & 255
    rows.append(bytes(row))
    last = row
left = width - 6 * 120 - 8
def cell(row, column):
    return [rows[8 + row * 120 + y * 7 + 3][3 * (left + column * 120 + x * 7 + 3):][:3] for y in range(16) for x in range(16)]
for row in range(2):
    original, cut = cell(row, 0), cell(row, 1)
    changed = [i for i in range(256) if original[i] != cut[i]]
    assert 16 <= len(changed) <= 64, len(changed)  # a square of 8, clipped at most to a quarter
    assert len({cut[i] for i in changed}) == 1  # the mean colour
    assert len({bytes().join(cell(row, i)) for i in range(2, 6)}) == 4  # each copy has transforms of its own
P

# a training that failed in its second epoch goes on from its checkpoint with its times
cat >r.recipe <<R
format: 1
recipe: r
experiments:
  r: { plugin: batchaug, with: { $small, $cut, copies: 2, checkpoint_every: 0, target_accuracy: 0.01, stop_at_target: false } }
R
TINY_TORCH_FAIL=train:6 orch run r.recipe -q >/dev/null 2>&1 && _fail 'the sixth step did not fail'
ok orch run r.recipe -q
ok orch show @last
has 'an earlier attempt had finished 1 epochs'
ok orch show @last --json
awk -v a="$(json results.time_to_accuracy)" -v b="$(json results.training_time)" 'BEGIN { exit !(a > 0 && a < b) }' || _fail 'the earlier attempt is not counted'
same "$(json results.epochs_to_accuracy)" 1.0

# refused before anything runs, with place and hint
refused() {
    printf 'format: 1\nrecipe: o\nexperiments: { o: { plugin: batchaug, with: { %s } } }\n' "$1" >o.recipe
    fails 2 orch check o.recipe
    says "$2"
    says 'at: o.recipe:3'
}
refused 'copies: 0' "parameter 'copies': 0 is below its minimum 1"
refused 'dataset: synthetic, image_size: 8, net: "mlp:8"' "'cutout 16': 16 pixels are more than the images have, which are 8 wide and 8 high: choose at most 8"
refused 'dataset: synthetic, image_size: 512, net: "mlp:8", copies: 4096, batch: 65536' '65536 samples x 4096 copies of 3x512x512 values take'
says 'hint: choose a smaller batch'
refused 'dataset: synthetic, crop_pad: 2' "parameters 'crop_pad' and 'flip' exclude 'transforms'"
exit 0
