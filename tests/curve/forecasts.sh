# Accuracies with usual names, intervals, "never" by the interval, and one law for several schedules of the learning rate.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
cat >law.py <<'P'
import json, sys
kind, points = sys.argv[1], int(sys.argv[2])
noise = lambda k: 1 + 0.004 * ((k * 7919 % 13) / 6 - 1)
if kind in ("accuracy", "percent"):   # 1 - accuracy = 0.05 + 2/(k + 2)
    for k in range(1, points + 1):
        accuracy = 1 - (0.05 + 2 / (k + 2)) * noise(k)
        print(json.dumps({"step": k, "val_acc": 100 * accuracy if kind == "percent" else accuracy}))
    sys.exit()
if kind == "power":                   # tends to 0.5
    for k in range(1, points + 1):
        print(json.dumps({"step": k, "loss": (0.5 + 2 * (k + 3) ** -0.5) * noise(k)}))
    sys.exit()
# the multi-power law, with l0 = 2, a = 0.6, alpha = 0.5, b = 0.5, beta = 0.6, gamma = 0.6, c = 3
rates = {"constant": lambda x: 1.0, "cosine": lambda x: 0.1 + 0.45 * (1 + __import__("math").cos(3.14159265 * x)),
         "drop": lambda x: 1.0 if x < 0.5 else 0.3, "decay": lambda x: 1.0 if x < 0.7 else 1 - 3 * (x - 0.7)}[kind]
r = [rates(k / points) for k in range(points + 1)]
S = [0.0]
for k in range(1, points + 1):
    S.append(S[-1] + (r[k] + r[k - 1]) / 2 / 100)
for k in range(points + 1):
    fall = sum((r[i] - r[i - 1]) * (1 - (1 + 3 * r[i] ** -0.6 * (S[k] - S[i])) ** -0.6) for i in range(1, k + 1))
    print(json.dumps({"step": k, "lr": 3e-4 * r[k], "loss": 2 + 0.6 * (S[k] + 0.1) ** -0.5 + 0.5 * fall}))
P
cat >law.plugin <<'Y'
command: [python3, law.py, "${kind}", "${points}"]
parameters:
  kind: { type: string, default: accuracy }
  points: { type: int, default: 60 }
metrics: any
Y
printf 'format: 1\nrecipe: c\nexperiments:\n  e: { plugin: ./law.plugin, sweep: { kind: [accuracy, percent, power, constant, cosine, drop, decay] } }\n' >c.recipe
ok orch run c.recipe -q
# accuracies: 94 % after 200 epochs, 95 % never, 98 % never
for kind in accuracy percent; do
    ok orch curve --where "kind=$kind" --target-accuracy 93% --json
    python3 - "$out" <<'P' || _fail "the curve of $kind is wrong"
import json, sys
a = json.loads(sys.argv[1])
curve, target = a["curves"][0], a["targets"][0]
assert curve["tends_to_low"] < 0.05 < curve["tends_to_high"] and abs(curve["tends_to"] - 0.05) < 0.01, curve
assert target["loss"] is None and target["reached"] == "yes" and 60 < target["step"] < 160 and target["step_low"] < 98 < target["step_high"], target
P
done
ok orch curve --where 'kind=accuracy' --target-accuracy 99% --json
same "$(json targets.0.reached)" never
# what the fit excludes, but not its interval, is not 'never'
ok orch curve --where 'kind=power' --json
low=$(json curves.0.tends_to_low)
limit=$(python3 -c 'import json, sys; print(json.loads(sys.argv[1])["curves"][0]["tends_to"])' "$out")
between=$(python3 -c 'import sys; print((float(sys.argv[1]) + float(sys.argv[2])) / 2)' "$low" "$limit")
ok orch curve --where 'kind=power' --target-loss "$between" --json
same "$(json targets.0.reached)" 'not by the fit, but possible'
python3 -c 'import json, sys; t = json.loads(sys.argv[1])["targets"][0]; assert 61 < t["step_low"] <= t["step"] < 1e5, t' "$out" || _fail 'no step by the slope'
ok orch curve --where 'kind=power' --target-loss 0.01
has never
ok orch curve --where 'kind=power' --target-loss 0.66
has ' to '
# a curve too short to try forecasts on has the interval of such trainings
printf 'format: 1\nrecipe: s\nexperiments:\n  e: { plugin: ./law.plugin, sweep: { kind: [power], points: [12] } }\n' >s.recipe
ok orch run s.recipe -q
ok orch curve --where 'points=12' --target-loss 0.6 --json
python3 -c 'import json, sys; t = json.loads(sys.argv[1])["targets"][0]; assert t["step_low"] <= t["step"] and t["step_low"] > 0, t' "$out" || _fail 'no interval for few points'
# one law for schedules: three are fitted, the fourth is predicted
ok orch curve --where 'kind=constant or kind=cosine or kind=drop' --form schedule --json
python3 - "$out" <<'P' || _fail 'the law of schedules is wrong'
import json, sys
a = json.loads(sys.argv[1])
assert len(a["runs"]) == 3 and all(r["error_percent"] < 0.2 for r in a["runs"]), a["runs"]
P
python3 -c '
print("step,lr")
for k in range(61):
    x = k / 60
    print(f"{k},{3e-4 * (1 if x < 0.7 else 1 - 3 * (x - 0.7))}")' >decay.csv
ok orch curve --where 'kind=constant or kind=cosine or kind=drop' --form schedule --rates decay.csv --json
predicted=$out
ok orch export --where 'kind=decay' --what points -m loss --format json
python3 - "$predicted" "$out" <<'P' || _fail 'the loss under another schedule is wrong'
import json, sys
said = {p["step"]: p["loss"] for p in json.loads(sys.argv[1])["predicted"]}
came = {int(p["step"]): float(p["value"]) for p in json.loads(sys.argv[2])}
off = [abs(said[k] / came[k] - 1) for k in came if k]
assert len(off) == 60 and sum(off) / 60 < 0.003 and max(off) < 0.02, (sum(off) / 60, max(off))
P
fails 2 orch curve --where 'kind=constant' --form schedule
says 'the learning rate of these runs never falls'
fails 2 orch curve --where 'kind=power' --form schedule
says "has no learning rate"
fails 2 orch curve --where 'kind=power' --rates decay.csv
says '--form schedule'
