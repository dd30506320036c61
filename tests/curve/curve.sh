# Loss curves of a wrapped program that follow known laws: the fitted parameters equal them; also targets, stages and
# the three report items.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
# Losses of 1/(b0 k + b1) + b2; the b's follow from the depth: b0 = 0.04 - depth/2000, b1 = 0.4, b2 = 0.3 - depth/400.
# 'drop': after step 40 another law begins. The accuracy is 1 - loss/4. A worker's step takes 2 ms + 1 ms an image.
cat >law.py <<'P'
import json, sys
net, batch, epochs, kind = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
depth = int(net.split(":")[1])
b0, b1, b2 = 0.04 - depth / 2000, 0.4, 0.3 - depth / 400
images, steps = 640, 640 // batch
for k in range(1, steps * epochs + 1):
    loss = 1 / (b0 * k + b1) + b2
    if kind == "drop" and k > 4 * steps:
        loss = 1 / (2 * (k - 4 * steps - 1) + 4) + b2
    if kind == "power":
        loss = 0.2 + 3 * (k + 5) ** -0.4
    if kind == "broken":
        loss = float("nan") if k % 7 == 0 else -1.0
    print(json.dumps({"step": k, "step_loss": loss}))
    if k % steps == 0:
        print(json.dumps({"step": k // steps, "val_accuracy": 1 - loss / 4, "epoch_time": steps * (2 + batch) / 1e3,
                          "images_per_s": 1e3 * batch / (2 + batch)}))
print(json.dumps({"train_images": images}))
P
cat >law.plugin <<'Y'
command: [python3, law.py, "${net}", "${batch}", "${epochs}", "${kind}"]
parameters:
  net: { type: string, default: "resnet-cifar:20" }
  batch: { type: int, default: 64 }
  epochs: { type: int, default: 10 }
  kind: { type: string, default: plain }
  milestones: { type: "list of string", default: [] }
metrics:
  step_loss: { better: min, step: step }
  val_accuracy: { better: max, step: epoch }
  epoch_time: { unit: s, better: min, step: epoch }
  images_per_s: { unit: images/s, better: max, step: epoch }
  train_images: { unit: images }
cost: { network: "${net}", input: 3x32x32, batch: "${batch}", epochs: "${epochs}", classes: "10" }
Y
cat >c.recipe <<'R'
format: 1
recipe: c
profile: small
profiles:
  small: {}
  large: { experiments: { family: { with: { epochs: 20 } } } }
experiments:
  family:
    plugin: ./law.plugin
    resources: { cores: 1 }
    sweep: { net: ["resnet-cifar:8", "resnet-cifar:14", "resnet-cifar:26", "resnet-cifar:32"] }
  held: { plugin: ./law.plugin, resources: { cores: 1 }, with: { net: "resnet-cifar:20" } }
  speed:
    plugin: ./law.plugin
    resources: { cores: 1 }
    with: { net: "resnet-cifar:20", epochs: 2 }
    sweep: { batch: [64, 32, 16] }
report:
  - { question: "1", curve: { value: step_loss, experiments: family } }
  - { question: "2", curve_law: { experiments: family, held_out: held } }
  - { question: "3", time_to: { accuracy: { small: 0.85, large: 0.9 }, servers: [2, 4], workers: [1, 2, 4, 8],
      link: ethernet10, experiments: family, held_out: held, speed: speed } }
R
ok orch run c.recipe family -q
ok orch report c.recipe family
has '4 of 4 curves could be fitted'
has 'left-out network is not among'
has "missing: there is no run of the network that 'held_out' names"
has 'to have it: orch run c.recipe held speed'
# the curve of a network that was not run, from those of the family
ok orch curve --where 'experiment=family' --net resnet-cifar:20 --target-loss 0.6 --target-accuracy 85% --json
python3 - "$SCRATCH/out" <<'P' || _fail 'the predicted curve is wrong'
import json, sys
a = json.load(open(sys.argv[1]))
p = a["predicted"]
s = p["stages"][0]
# b0 = 0.04 - depth/2000, b1 = 0.4, b2 = 0.3 - depth/400
assert abs(s["b0"] - 0.03) < 1e-3 and abs(s["b1"] - 0.4) < 1e-3 and abs(s["b2"] - 0.25) < 5e-3, s
assert (p["net"], p["networks"], p["runs"], p["left_out_networks"]) == ("resnet-cifar:20", 4, 4, 4), p
assert 0 <= p["left_out_error"] <= p["left_out_worst_error"] < 0.05, p
for point in p["curve"]:
    want = 1 / (0.03 * point["step"] + 0.4) + 0.25
    assert abs(point["loss"] / want - 1) < 0.03, (point, want)
assert p["curve"][0]["step"] <= 2 and p["curve"][-1]["step"] == 100
mine = [t for t in a["targets"] if t["run"] == "resnet-cifar:20"]
assert len(mine) == 2 and abs(mine[0]["step"] - 82) <= 8 and mine[0]["reached"] == "yes" and mine[0]["time_s"] is None, mine
assert abs(mine[0]["epochs"] - mine[0]["step"] / 10) < 0.11
P
ok orch curve --where 'experiment=family' --net resnet-cifar:20 --gpu thread
has 'predicted for resnet-cifar:20'
has 'left-out error %'
has 'each of 4 networks is left out'
has 'thread'
ok orch curve --where 'experiment=family' --net resnet-cifar:20 --format csv
has 'step,loss'
ok orch curve --where 'experiment=family and net=resnet-cifar:8' --net resnet-cifar:20
has 'needs runs of at least 3 networks'
has 'each parameter is a constant'
fails 2 orch curve --where 'experiment=family' --net resnet-cifar:21
says 'resnet-cifar'
fails 2 orch curve --where 'experiment=family' --net resnet-cifar:20 --gpu V100
says "none of these runs was made on 'V100'"
fails 2 orch curve --where 'experiment=family' --net resnet-cifar:20 --form power
says '--form'
ok orch run c.recipe -q
ok orch report c.recipe
printf '%s' "$out" >answers
python3 - answers <<'P' || _fail 'the answers are wrong'
import re, sys
text = open(sys.argv[1]).read()
rows = [line.split() for line in text.splitlines()]
table = {r[0]: r for r in rows if len(r) > 5 and r[0].startswith("resnet-cifar:")}
first = {}
for r in rows:
    if r and r[0].startswith("resnet-cifar:") and r[-1] == "tester":
        first[int(r[0].split(":")[1])] = [float(x) for x in r[-7:-4]]
assert sorted(first) == [8, 14, 26, 32], first
for depth, (b0, b1, b2) in first.items():
    want = 0.04 - depth / 2000, 0.4, 0.3 - depth / 400
    assert all(abs(x - y) < 1e-4 for x, y in zip((b0, b1, b2), want)), (depth, b0, b1, b2)
held = [r for r in rows if r and r[0] == "resnet-cifar:20"][0]
predicted = float(held[-6])
assert float(held[-4]) < 0.5, held              # and so does the one on layers and device, which is the law here
plain = {m[0]: m[1:] for m in re.findall(r"^  (b[012]) +(\S+) \((\S+)\) +(\S+) \((\S+)\) +(\S+)$", text, re.M)}
assert abs(float(plain["b0"][0]) - 0.04) < 1e-4 and abs(float(plain["b0"][2]) + 0.0005) < 1e-5, plain
assert abs(float(plain["b2"][2]) + 0.0025) < 1e-5 and float(plain["b2"][4]) > 0.999, plain
assert predicted < 0.5, held                    # per cent: the law is smooth, the regression finds nearly all
assert "so whether the device matters cannot be tested" in text
# steps to accuracy 0.85, that is loss 0.6: the law of depth 20 has b0 0.03, b1 0.4, b2 0.25, so step 82
steps = int(re.search(r"after (\d+) steps", text).group(1))
assert abs(steps - (1 / (0.6 - 0.25) - 0.4) / 0.03) < 8, steps
assert re.search(r"reached this accuracy at epoch (\d+)", text).group(1) == "9", text
# a worker's step: 2 ms + 1 ms an image
assert "0.066 s for 64 images, 0.034 s for 32 images, 0.018 s for 16 images" in text, text
assert "measured:" in text and "computed, not measured:" in text
speeds = {}
for r in rows:
    if len(r) > 5 and r[0] in "1248" and r[1] in ("64", "32", "16", "8"):
        speeds[int(r[0])] = float(r[2])
S = float(re.search(r"S is ([\d.]+) MB", text).group(1)) * 1e6
for w, f in speeds.items():
    t = 0.002 + 0.064 / w + 2 * w * S / (2 * 1.25e9) + 2 * 30e-6 * (w + 2)
    assert abs(f * t - 1) < 0.01, (w, f, 1 / t)
assert len(speeds) == 4
P
# their charts
ok orch report c.recipe --json
python3 - "$SCRATCH/out" <<'P' || _fail 'the charts are wrong'
import json, sys
sections = json.load(open(sys.argv[1]))["sections"]
for section, start in zip(sections, ("4 of 4 curves could be fitted, with a mean error of ", "Error of the predicted curve: ", "Predicted time of resnet-cifar:20 to accuracy ")):
    assert section["blocks"][0]["kind"] == "answer" and section["blocks"][0]["text"].startswith(start), section["blocks"][0]
# the line below it has the lowest and the highest of each parameter
said, rows = next(b["text"] for b in sections[0]["blocks"] if b["kind"] == "text" and b["text"].startswith("parameter b0: ")), next(b["rows"] for b in sections[0]["blocks"] if "rows" in b)
parts = said.split(". ")
for k in range(3):
    at = next(i for i, p in enumerate(parts) if f"b{k}: " in p)
    part = parts[at]
    if part.endswith(" in each of 4 curves"):
        assert all(abs(float(part.split()[2]) - row[f"b{k}"]) < 1e-3 for row in rows), (part, rows)
        continue
    assert "the lowest of 4 curves is " in part and parts[at + 1].startswith("The highest is "), parts
    for part, n in zip(parts[at:], (min(row[f"b{k}"] for row in rows), max(row[f"b{k}"] for row in rows))):
        number, of = part.split(" is ")[1].split(" for ")
        assert abs(float(number) - n) <= 1e-3 * abs(n) + 1e-4 and of in [f"{row['network']} on {row['device']}" for row in rows], (part, rows)
charts = [[b["chart"] for b in s["blocks"] if b.get("chart")] for s in sections]
(fits,), (held,), (times,) = charts
by_panel = {}
for series in fits["series"]:
    by_panel.setdefault(series["panel"], {})[series["role"]] = series["points"]
assert sorted(by_panel) == ["resnet-cifar:%s" % d for d in ("14", "26", "32", "8")] and fits["kind"] == "scatter", by_panel.keys()
for panel, series in by_panel.items():
    depth = int(panel.split(":")[1])
    assert sorted(series) == ["fitted", "measured"]
    assert 30 <= len(series["measured"]) <= 41 and series["fitted"][0]["x"] == 1 and series["fitted"][-1]["x"] == 100
    for p in series["fitted"]:
        assert abs(p["y"] - (1 / ((0.04 - depth / 2000) * p["x"] + 0.4) + 0.3 - depth / 400)) < 1e-4, (panel, p)
    for p in series["measured"]: # a mean of a curve that bends lies above it, by little
        assert -1e-9 <= p["y"] - (1 / ((0.04 - depth / 2000) * p["x"] + 0.4) + 0.3 - depth / 400) < 0.01, (panel, p)
roles = {s["role"]: s["points"] for s in held["series"]}
assert sorted(roles) == ["measured", "predicted"] and held["title"].startswith("resnet-cifar:20"), roles.keys()
for p in roles["predicted"]: # the law of depth 20 within the band
    assert p["low"] < p["y"] < p["high"] and p["low"] < 1 / (0.03 * p["x"] + 0.4) + 0.25 < p["high"], p
assert [s["name"] for s in times["series"]] == [f"{n} parameter servers{how}" for how in ("", ", extrapolated") for n in (2, 4)] and times["y"] == "time (s)", times
lines = [times["series"][i]["points"] + times["series"][i + 2]["points"][1:] for i in range(2)] # 8 workers: no batch of 8 was measured
two, four = [[p["y"] for p in line] for line in lines]
assert [p["x"] for p in lines[0]] == [1, 2, 4, 8] and two == sorted(two, reverse=True)
assert all(a > b for a, b in zip(two, four))
P
# orch curve: the same numbers of one run, and when it reaches a target
ok orch run c.recipe held -q
ok orch curve 'experiment=held' --target-loss 0.52 --target-accuracy 80% --epochs 100 --json
python3 - "$SCRATCH/out" <<'P' || _fail 'the curve is wrong'
import json, math, sys
a = json.load(open(sys.argv[1]))
c = a["curves"][0]
assert abs(c["b0"] - 0.03) < 1e-6 and abs(c["b1"] - 0.4) < 1e-6 and abs(c["b2"] - 0.25) < 1e-6, c
assert c["r2"] > 0.999999 and c["form"] == "optimus" and c["points"] == 100
loss, accuracy, end = a["targets"]
k = (1 / (0.52 - 0.25) - 0.4) / 0.03
assert loss["step"] == math.ceil(k) and abs(loss["epochs"] - k / 10) < 1e-6
assert abs(loss["time_s"] - k * 0.066) < 1e-4, loss
assert abs(accuracy["loss"] - 0.8) < 0.05 and accuracy["seen_at_epoch"] == 5.0, accuracy   # loss 0.8: step 47
assert abs(end["loss"] - (1 / (0.03 * 1000 + 0.4) + 0.25)) < 1e-6 and end["step"] == 1000
assert len(a["bridge"]) <= 8
P
ok orch curve @last
has optimus
has 'b0 k + b1'
# standard errors of the parameters: those of the linearised fit, from the points themselves
cat >noisy.plugin <<'Y'
command: [python3, noisy.py]
metrics: { step_loss: { better: min, step: step } }
Y
cat >noisy.py <<'P'
for k in range(200):
    print('{"step": %d, "step_loss": %.17g}' % (k, 1 / (0.03 * k + 0.4) + 0.25 + 0.02 * ((k * 7919) % 101 / 101 - 0.5)))
P
cat >noisy.recipe <<'R'
format: 1
recipe: noisy
experiments: { one: { plugin: ./noisy.plugin } }
R
ok orch run noisy.recipe -q
ok orch curve @last --form optimus --json
python3 - "$SCRATCH/out" <<'P' || _fail 'the standard errors are wrong'
import json, sys
c = json.load(open(sys.argv[1]))["curves"][0]
b0, b1, b2 = c["b0"], c["b1"], c["b2"]
rows, squares = [], 0
for k in range(200):
    y = 1 / (0.03 * k + 0.4) + 0.25 + 0.02 * ((k * 7919) % 101 / 101 - 0.5)
    g = 1 / (b0 * k + b1)
    rows.append((-k * g * g, -g * g, 1))
    squares += (y - g - b2) ** 2
m = [[sum(r[i] * r[j] for r in rows) for j in range(3)] for i in range(3)]
det3 = lambda a: (a[0][0] * (a[1][1] * a[2][2] - a[1][2] * a[2][1]) - a[0][1] * (a[1][0] * a[2][2] - a[1][2] * a[2][0])
                  + a[0][2] * (a[1][0] * a[2][1] - a[1][1] * a[2][0]))
for j, name in enumerate(("b0_error", "b1_error", "b2_error")):
    rest = [i for i in range(3) if i != j]
    minor = m[rest[0]][rest[0]] * m[rest[1]][rest[1]] - m[rest[0]][rest[1]] ** 2
    want = (minor / det3(m) * squares / (200 - 3)) ** 0.5
    assert abs(c[name] / want - 1) < 1e-3, (name, c[name], want)
P
ok orch curve @last --form optimus
has 'in brackets: standard errors'
[[ $out =~ 0\.0[0-9]+\ \(0\.000[0-9]+\) ]] || _fail 'no standard error in the table'
ok orch curve @last --form optimus --weights segments --json
same "$(json curves.0.b0_error)" null
ok orch run c.recipe held --force -q
ok orch curve --where 'experiment=family' --format csv
same "$(printf '%s\n' "$out" | wc -l)" 5
has 'run,net,where'
ok orch curve @last --target-loss 0.1
has never
# the form, and stages
cat >o.recipe <<'R'
format: 1
recipe: o
experiments:
  power: { plugin: ./law.plugin, with: { kind: power } }
  drop: { plugin: ./law.plugin, with: { kind: drop, milestones: [4] } }
  short: { plugin: ./law.plugin, with: { epochs: 1, batch: 320 } }
  broken: { plugin: ./law.plugin, with: { kind: broken } }
  nap: { plugin: sleep, with: { seconds: 0 } }
R
ok orch run o.recipe power -q
ok orch curve @last --json
same "$(json curves.0.form)" power
ok orch curve @last --form optimus --json
same "$(json curves.0.form)" optimus
ok orch run o.recipe drop -q
ok orch curve @last --target-loss 0.27 --json
python3 - "$SCRATCH/out" <<'P' || _fail 'the stages are wrong'
import json, sys
a = json.load(open(sys.argv[1]))
one, two = a["curves"]
assert two["from"] == 41 and abs(one["b0"] - 0.03) < 1e-6, a
assert abs(two["b0"] - 2) < 1e-4 and abs(two["b1"] - 4) < 1e-4 and abs(two["b2"] - 0.25) < 1e-5, two
assert a["targets"][0]["step"] in (64, 65)      # 41 + (1/0.02 - 4)/2
P
# wrong questions
ok orch run o.recipe short -q
fails 2 orch curve @last
says "has 2 points of 'step_loss'"
ok orch run o.recipe broken -q
fails 2 orch curve @last
says negative
ok orch curve --where 'plugin=law' --json
says 'left out:'
says negative
fails 2 orch curve
says 'no runs are named'
fails 2 orch curve nothing
says "nothing"
fails 2 orch curve @last --metric acc
says "no metric 'acc'"
fails 2 orch curve @last --target-accuracy 92
says '92%'
fails 2 orch curve @last --form cubic
says optimus
fails 2 orch curve @last --gpu V100
says "'--gpu' needs '--net'"
fails 2 orch predict --gpu V100 --net resnet50 --target-loss 1
says "'orch curve' has it"
fails 2 orch predict @last
says 'name a network with --net'
ok orch run o.recipe nap -q
fails 2 orch curve @last
says 'has no metric'
for wrong in 'value: train_images' 'held_out: nobody'; do
    sed "s/curve_law: { experiments: family, held_out: held }/curve_law: { experiments: family, held_out: held, $wrong }/; s/held_out: held, held_out/held_out/" c.recipe >bad.recipe
    fails 2 orch check bad.recipe
done
says "unknown experiment 'nobody'"
sed 's/small: 0.85/smal: 0.85/' c.recipe >bad.recipe
fails 2 orch check bad.recipe
says "did you mean 'small'"
sed 's/servers: \[2, 4\]/servers: [0]/' c.recipe >bad.recipe
fails 2 orch check bad.recipe
says 'whole number'
