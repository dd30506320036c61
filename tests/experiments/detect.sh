# The plugin detect on rectangles of three colours: mAP rises from near 0, equal seeds give equal trainings whatever
# the threads of the loader, a run's weights are tested and finetuned to a class that they did not have, frozen layers
# keep their weights, and a resumed training is equal to an uninterrupted one.
# test: slow torch timeout=1200
. "$(dirname "$0")/../cli/lib.sh"
[ -e "$BUILD/plugins/common/orch-torch.so" ] || skip 'no LibTorch here'
small='dataset: synthetic, train_images: 160, test_images: 60, val_images: 30, image_size: 64, net: "ssd-small:8", lr: 0.03, schedule: cosine, layout: plain, threads: 1'
cat >t.recipe <<R
format: 1
recipe: t
with: { $small }
experiments:
  base: { plugin: detect, with: { epochs: 8, classes: [red, green] } }
  same: { plugin: detect, with: { epochs: 2 }, sweep: { loader_threads: [0, 3] } }
  test: { plugin: detect, with: { mode: test, classes: [red, green], weights: "\${base.weights}" } }
  part: { plugin: detect, with: { mode: test, classes: [GREEN], weights: "\${base.weights}" } }
  tuned: { plugin: detect, with: { epochs: 3, classes: [green, blue], weights: "\${base.weights}" } }
  head: { plugin: detect, with: { epochs: 1, mode: feature, classes: [green, blue], weights: "\${base.weights}" } }
  anew: { plugin: detect, with: { epochs: 1, new_head: true, classes: [red, green], weights: "\${base.weights}" } }
R
ok orch run t.recipe -q
ok orch export --format json
cp "$SCRATCH/out" runs.json
for name in base test part tuned; do
    ok orch ls --where "experiment=$name" --json
    ok orch show "$(json runs.0.key)" -a classes
    cp "$SCRATCH/out" "$name.csv"
done
python3 - runs.json <<'P' || _fail 'what the trainings give'
import csv, json, sys
runs, same = {}, []
for run in json.load(open(sys.argv[1])):
    if run["experiment"] == "same":
        same.append((run["result.full_map"], run["result.full_loss"], run["result.final_loss"]))
    runs[run["experiment"]] = {k.split(".", 1)[-1] if k[:7] in ("result.", "metric.") else k: v for k, v in run.items()}
base, test, part, tuned = (runs[name] for name in ("base", "test", "part", "tuned"))
assert base["class_count"] == 3 and base["train_images"] == 160 and base["val_images_total"] == 60, base
assert base["prior_count"] == 6 * (64 + 16 + 4), base["prior_count"]
assert base["full_map"] > 0.6 and base["best_map"] >= base["final_map"], base
assert len(same) == 2 and same[0] == same[1], same
# the weights are measured again as they were, all classes or one of them
assert abs(test["full_map"] - base["full_map"]) < 1e-6 and abs(test["full_loss"] - base["full_loss"]) < 1e-6, (test, base)
assert test["trained_params"] == 0 and test.get("training_time") is None
rows = {name: {row["class"]: row for row in csv.DictReader(open(name + ".csv"))} for name in ("base", "test", "part", "tuned")}
assert list(rows["base"]) == ["red", "green"]
assert list(rows["part"]) == ["green"] and rows["part"]["green"]["AP (VOC 2007)"], rows["part"]
mean = sum(float(rows["base"][c]["AP (VOC 2007)"]) for c in ("red", "green")) / 2
assert abs(mean - base["full_map"]) < 1e-4
# a class that the weights had is found before the first step, the new one is not; afterwards both are
before = [float(rows["tuned"][c]["AP before (VOC 2007)"]) for c in ("green", "blue")]
assert abs(sum(before) / 2 - tuned["initial_map"]) < 1e-4 and before[0] > before[1], (before, tuned)
assert rows["base"]["red"]["AP before (VOC 2007)"] == "", rows["base"]
assert 0.2 < tuned["initial_map"] < 0.65 < tuned["full_map"], tuned
assert float(rows["tuned"]["blue"]["AP (VOC 2007)"]) > 0.5, rows["tuned"]
assert runs["head"]["trained_params"] < tuned["trained_params"] == tuned["params"]
assert runs["anew"]["initial_map"] < 0.5 * base["full_map"], runs["anew"]
P

# a training that was interrupted goes on, to the same end
cat >r.recipe <<R
format: 1
recipe: r
experiments:
  whole: { plugin: detect, with: { $small, epochs: 12, checkpoint_every: 0 } }
R
orch run r.recipe -q >log 2>&1 &
pid=$!
until [ -n "$(ls .orch/results.db.d/checkpoints/*/training.safetensors 2>/dev/null)" ]; do
    kill -0 $pid 2>/dev/null || _fail 'the training wrote no checkpoint'
    sleep 0.02
done
kill -TERM $pid
wait $pid && _fail 'the training ended before it was interrupted'
ok orch ls --where 'experiment = whole' --json
same preempted "$(json runs.0.state)"
ok orch run r.recipe -q
ok orch show @last
has 'an earlier attempt had finished'
ok orch run r.recipe -q --db whole.db
for db in .orch/results.db whole.db; do
    ok orch export --where 'experiment = whole and state = ok' --format json --db $db
    cp "$SCRATCH/out" "whole.$(basename $db).json"
done
python3 - <<'P' || _fail 'a resumed training'
import json
clocks = "training_time", "validation_time", "epoch_time", "images_per_s"
def figures(file):
    [run] = json.load(open(file))
    named = {tuple(k.split(".", 1)): v for k, v in run.items() if k.startswith(("result.", "metric."))}
    return {k: v for k, v in named.items() if k[1] not in clocks and not k[1].startswith("system/")}
resumed, whole = figures("whole.results.db.json"), figures("whole.whole.db.json")
assert len(whole) > 15 and resumed == whole, [(k, resumed.get(k), v) for k, v in whole.items() if resumed.get(k) != v]
P

# the test images that another engine is compared with
ok orch ls --where 'experiment=whole' --json
ok orch show "$(json runs.0.key)" -a samples
cp "$SCRATCH/out" samples.safetensors
python3 - <<'P' || _fail 'the file of samples'
import json, struct
data = open("samples.safetensors", "rb").read()
header = json.loads(data[8:8 + struct.unpack("<Q", data[:8])[0]])
assert header["__metadata__"]["classes"].split("\n") == ["background", "red", "green", "blue"], header["__metadata__"]
assert header["real/input"]["shape"] == [16, 3, 64, 64], header["real/input"]
assert header["real/output/classification_headers.2"]["shape"] == [16, 24, 2, 2]
assert 16 <= header["real/objects"]["shape"][0] <= 32 and header["real/objects"]["shape"][1] == 7
P
