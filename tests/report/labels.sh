# People read the labels that plugins declare: in headings, axes, legends and sentences. Files for programs have the names.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
for so in "$ORCH_BUILD_DIR"/plugins/*.so "$ORCH_SOURCE_DIR"/plugins/*/*.plugin; do
    name=$(basename "$so")
    ok orch plugin show "${name%.*}" --json
    printf '%s' "$out" | python3 -c '
import json, sys
d = json.load(sys.stdin)
assert d["params"] or d["metrics"], d["name"]
bare = [row["name"] for key in ("params", "metrics") for row in d[key] if not row.get("label")]
assert not bare, (d["name"], bare)
share = lambda m: m["name"].endswith("_accuracy") and not m.get("unit")
beyond = [m["name"] for m in d["metrics"] if (share(m) and (m.get("min"), m.get("max")) != ("0", "1")) or (m.get("unit") in ("s", "ms", "epochs") and m.get("max"))]
assert not beyond, (d["name"], beyond)' || _fail "plugin $name declares a name without a label"
done
ok orch plugin show pyexample
has 'learning rate'
cat >train.py <<'P'
import json, sys
warmth, repeat = float(sys.argv[1]), int(sys.argv[2])
for epoch in range(1, 4):
    print(json.dumps({"step": epoch, "fit_err": (1 + repeat / 10) / (epoch + warmth)}))
print(json.dumps({"end_q": 0.5 + warmth / 10 + repeat / 100, "took_s": 2 + repeat / 10}))
P
cat >warm.plugin <<'Y'
command: [python3, train.py, "${tau}", "${repeat}"]
parameters: { tau: { type: real, default: 1, label: temperature } }
metrics: { fit_err: { better: min, step: epoch, label: error of the fit }, end_q: { better: max, min: 0, max: 1, label: quality }, took_s: { unit: s, better: min } }
Y
cat >a.recipe <<'R'
format: 1
recipe: a
experiments:
  t: { plugin: ./warm.plugin, sweep: { tau: [1, 2] }, repeat: 3 }
report:
  - { question: 1.1, title: Rows, table: { rows: tau, value: [result end_q, result took_s] } }
  - { question: 1.2, title: Winner, best: { value: result end_q, by: tau } }
  - { question: 1.3, title: Against, compare: { value: result end_q, by: tau } }
  - { question: 1.4, title: Lines, plot: { x: epoch, y: fit_err, by: tau } }
R
ok orch run a.recipe -q
ok orch report a.recipe --only 1.1
has 'Quality: '
has ' for temperature 1'
printf '%s\n' "$out" | grep -Eq '^ +temperature +quality +took time \(s\)$' || _fail 'the heading has no labels'
ok orch report a.recipe --only 1.2
has 'settings: temperature '
ok orch report a.recipe --only 1.3
has 'temperature 1: 0.'
ok orch report a.recipe --only 1.4
has 'error of the fit'
has 'temperature 1'
has_not fit_err
ok orch report a.recipe --only 1.4 --json
has '"tau=1"'
ok orch table --rows tau --value 'result end_q'
has temperature
has quality
ok orch table --rows tau --value 'result end_q' --format csv
has tau
has_not temperature
# an interval never leaves the bounds that are declared, in tables, sentences and charts
cat >game.sh <<'S'
case $1 in 5) echo '{"points": 340}' ;; *) echo '{"points": 500}' ;; esac
S
cat >game.plugin <<'Y'
command: [sh, game.sh, "${repeat}"]
parameters: { level: { type: int, default: 1 } }
metrics: { points: { better: max, min: 0, max: 500 } }
Y
cat >g.recipe <<'R'
format: 1
recipe: g
experiments:
  t: { plugin: ./game.plugin, sweep: { level: [1, 2] }, repeat: 5 }
report:
  - { question: 2.1, title: Table, table: { rows: level, value: result points } }
  - { question: 2.2, title: Chart, plot: { x: level, y: result points } }
R
ok orch run g.recipe -q
ok orch report g.recipe --json
printf '%s' "$out" | python3 -c '
import json, re, sys
d = json.load(sys.stdin)
said = [float(x) for s in d["sections"] for b in s["blocks"] for x in re.findall(r"\((?:95 % interval )?[0-9.]+ to ([0-9.]+)\)", b.get("text") or "")]
assert said and all(468 < high < 500 for high in said), said
points = [p for b in d["sections"][1]["blocks"] if b["kind"] == "chart" for p in b["chart"]["series"][0]["points"]]
assert len(points) == 2 and all(468 < p["high"] < 500 for p in points), points' || _fail 'an interval beyond the bounds'
