# The report items 'learn' and 'layerwise', on programs whose times follow a known law.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
mkdir exp
# a training: the time of an epoch is the linear form of AI Gauge itself, with I = the network
cat >exp/job.py <<'P'
import sys
net, batch, threads = sys.argv[1], float(sys.argv[2]), float(sys.argv[3])
print("epoch_time", 5 + {"lenet5": 1, "mlp": 3, "resnet20": 20}[net] + 0.5 * batch / (threads + 1) + 0.25 * batch / threads)
P
cat >exp/job.plugin <<'Y'
plugin: job
version: 1.0.0
about: a training that only says how long it took
command: [python3, job.py, "${net}", "${batch}", "${threads}"]
metrics_from: lines
parameters:
  net: {type: string, default: lenet5, help: network}
  batch: {type: int, default: 16, help: batch}
  threads: {type: int, default: 1, help: threads}
metrics:
  epoch_time: {unit: s, better: min, help: an epoch}
Y
# layers, or a network when one is named: each takes its work over the device's speed
cat >exp/layers.py <<'P'
import math, random, sys
net, batch, threads = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
speed = 1e8 * threads
if net != "none":
    macs = 784 * 64 + 64 * 32 + 32 * 10
    print("batch_time", 3 * 2 * batch * macs / speed)
    open("dense.csv", "w").close()
    sys.exit()
random.seed(1)
with open("dense.csv", "w") as f:
    f.write("batch,din,dout,act,opt,ms\n")
    for i in range(150):
        b, i_, o = random.randint(1, 64), int(2 ** random.uniform(3, 11)), int(2 ** random.uniform(3, 8))
        opt = random.choice(["none", "sgd"])
        f.write(f"{b},{i_},{o},{random.choice(['none', 'relu'])},{opt},{(3 if opt == 'sgd' else 1) * 2 * b * i_ * o / speed:.9g}\n")
print("layers", 150)
P
cat >exp/layers.plugin <<'Y'
plugin: layers
version: 1.0.0
about: times of layers, or of a network
command: [python3, layers.py, "${net}", "${batch}", "${threads}"]
metrics_from: lines
parameters:
  net: {type: string, default: none, help: network}
  batch: {type: int, default: 16, help: batch}
  classes: {type: int, default: 10, help: classes}
  optimizer: {type: string, default: sgd, help: update rule}
  threads: {type: int, default: 1, help: threads}
metrics:
  batch_time: {unit: ms, better: min, help: a step}
  layers: {help: layers timed}
artifacts:
  dense: dense.csv
Y
cat >lesson.recipe <<'R'
format: 1
recipe: lesson
experiments:
  job: { plugin: exp/job.plugin, sweep: { net: [lenet5, mlp, resnet20], batch: [16, 64, 256], threads: [1, 2, 4] } }
  layers: { plugin: exp/layers.plugin, sweep: { threads: [1, 2] } }
  whole: { plugin: exp/layers.plugin, with: { net: "mlp:64,32" }, sweep: { batch: [8, 32], threads: [1, 2] } }
report:
  - title: Regressors
    learn: { value: last epoch_time, features: [net, batch, threads], hold_out: threads, model: linear,
             models: [tree, boost, linear, aigauge], experiments: job }
  - title: Layers
    learn: { artifact: dense, target: ms, features: threads, hold_out: threads, model: linear, experiments: layers }
  - title: Networks
    layerwise: { dense: dense, value: last batch_time, features: threads, hold_out: threads, model: linear,
                 images: 1000, experiments: [layers, whole] }
  - { title: Elsewhere, learn: { dataset: justus_conv, target: ms, hold_out: gpu } }
R
ok orch check lesson.recipe
ok orch run lesson.recipe --no-progress
ok orch report lesson.recipe
printf '%s' "$out" >answers
python3 - <<'P' || _fail 'the answers are wrong'
import re
parts = dict(re.findall(r"^\n?(Regressors|Layers|Networks|Elsewhere)\n((?:  .*\n?)*)", open("answers").read() + "\n", re.M))
assert set(parts) == {"Regressors", "Layers", "Networks", "Elsewhere"}, parts.keys()
r = parts["Regressors"]
assert "learned from 27 rows: 27 runs" in r and "RMSE (s)" in r, r
line = {l.strip().split("  ")[0].split("\t")[0]: re.split(r"\t|  +", l.strip()) for l in r.splitlines()}
# the law is its own form with I = network: nothing is left; with I = GPU type it is not
assert float(line["aigauge, I = network"][1]) < 1e-6, line["aigauge, I = network"]
assert float(line["aigauge, I = GPU type"][1]) > 3, line["aigauge, I = GPU type"]
assert re.match(r"depth \d+", line["tree"][2]) and line["tree"][3].endswith("%"), line["tree"]
assert "aigauge, I = network: y = " in r and " I(resnet20) + " in r and "these rows determine only" in r
assert "GPU type is 'threads'" in r and "B 'batch'" in r
assert "model of these rows alone" in r and "model of all other rows" in r
# the work is the whole law: a linear model of logarithms finds it; a device left out is twice as fast or slow
rows = [re.split(r"\t|  +", l.strip()) for l in parts["Layers"].splitlines()]
by = {c[0]: c for c in rows}
share = lambda cell: float(re.search(r", ([0-9.]+) %", cell).group(1))
assert by["1"][1] == "150" and share(by["1"][3]) < 3 and share(by["2"][3]) < 3, by
assert 40 < share(by["2"][4]) < 110 and 40 < share(by["1"][4]) < 110, by
# a network is the sum of its layers
assert "learned from 300 rows: layers of 2 runs" in parts["Networks"]
nets = [l for l in parts["Networks"].splitlines() if "mlp:64,32" in l]
assert len(nets) == 4, parts["Networks"]
for l in nets:
    off = [int(x) for x in re.findall(r"\(([+-]\d+) %\)", l)]
    assert len(off) == 3 and abs(off[0]) <= 5 and abs(off[1]) <= 5 and abs(off[2]) >= 40, l
    assert "nothing" in l, l
assert "missing: the store has no data set 'justus_conv'" in parts["Elsewhere"]
assert "orch import justus_conv.csv --target ms" in parts["Elsewhere"]
P
ok orch report lesson.recipe --json
python3 - "$SCRATCH/out" <<'P' || _fail 'the chart of networks'
import json, sys
sections = json.load(open(sys.argv[1]))["sections"]
answers = [s["blocks"][0]["text"] for s in sections if s["blocks"][0]["kind"] == "answer"]
assert any(" predicts " in a and " best, with a mean relative error of " in a for a in answers), answers
assert any(a.startswith("The sum of a network's layer times misses the measured time of a batch by ") for a in answers), answers
chart = [b["chart"] for s in sections for b in s["blocks"] if b.get("chart")][0]
assert chart["kind"] == "scatter" and chart["log_x"] and chart["log_y"] and chart["x"] == "measured (ms)", chart
points = [p for s in chart["series"] if s["role"] == "measured" for p in s["points"]]
assert len(points) == 4 and all(abs(p["y"] / p["x"] - 1) <= 0.05 and p["low"] <= p["y"] <= p["high"] for p in points), points
equal = [s["points"] for s in chart["series"] if s["role"] == "ideal"][0]
assert [p["x"] for p in equal] == [p["y"] for p in equal] == sorted([min(p["x"] for p in points), max(p["x"] for p in points)])
P
# too little ran yet: shown as missing, not left out
sed 's/experiments: \[layers, whole\]/experiments: [layers, whole, job]/' lesson.recipe >early.recipe
ok orch run early.recipe job -x net=lenet5 -x batch=16 --db other.db --no-progress
ok orch report early.recipe job -x net=lenet5 -x batch=16 --db other.db
has 'missing: 3 rows are too few to compare models: 10 are needed'
has 'no layers are measured yet'
has 'to have it: orch run early.recipe -x net=lenet5 -x batch=16 --db other.db layers whole'
has 'to have it: more settings: orch run early.recipe, '
# wrong items are found before anything runs
bad() {
    sed "s|learn: { dataset: justus_conv, target: ms, hold_out: gpu }|$1|" lesson.recipe >bad.recipe
    fails 2 orch check bad.recipe
    says "$2"
    says 'bad.recipe:'
}
bad 'learn: { dataset: x, target: ms, models: [tre] }' "unknown model 'tre'"
bad 'learn: { dataset: x, target: ms, models: [forest], model: aigauge }' "unknown model 'aigauge'"
# every model that 'orch predictor train' has
models=$(orch predictor train --model no 2>&1 | sed -n 's/.*hint: //p')
[ "${models%kernel*}" != "$models" ] || _fail "the models are '$models'"
for model in ${models//,/ } auto; do
    [ $model != grey ] || continue # a white box of layers, no rows to learn from
    sed "s|learn: { dataset: justus_conv, target: ms, hold_out: gpu }|learn: { dataset: x, target: ms, model: $model }|" lesson.recipe >good.recipe
    ok orch check good.recipe
done
bad 'learn: { dataset: x }' "needs 'target'"
bad 'learn: { target: ms }' "needs one of 'value', 'artifact' and 'dataset', found 0"
bad 'learn: { dataset: x, value: last epoch_time, target: ms }' 'found 2'
bad 'learn: { value: last epoch_time, experiments: job }' "needs 'features'"
bad 'learn: { value: last epoch_tim, features: [net] }' "unknown metric 'epoch_tim'"
bad 'learn: { value: last epoch_time, features: [nett], experiments: job }' "unknown parameter 'nett'"
bad 'learn: { artifact: dens, target: ms }' "artifact 'dens'"
bad 'learn: { dataset: x, target: ms, most: -1 }' 'not a whole number of at least 1'
bad 'layerwise: { value: last batch_time }' "needs 'conv', 'dense' or 'rows'"
