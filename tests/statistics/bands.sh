# Charts draw fewer than five runs one by one, and more as a mean with a band that stays within the possible range of an
# accuracy. Tables show the same intervals.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
cat >job.sh <<'S'
i=$ORCH_REPEAT
for epoch in 1 2 3; do echo "step=$epoch accuracy=0.9$((i * 2 % 10))$epoch"; done
case $i in 1) echo "final 1.0" ;; 2) echo "final 0.62" ;; *) echo "final 0.99$i" ;; esac
S
cat >job.plugin <<'Y'
plugin: job
version: 1.0.0
command: [sh, job.sh]
metrics_from: lines
metrics:
  accuracy: {better: max, step: epoch}
  final: {better: max, unit: share}
Y
cat >r.recipe <<'R'
format: 1
recipe: r
experiments:
  few: { plugin: ./job.plugin, reuse: any, repeat: 3 }
  many: { plugin: ./job.plugin, reuse: any, repeat: 6 }
report:
  - { question: "1", title: Few, plot: { x: epoch, y: accuracy, experiments: few } }
  - { question: "2", title: Many, plot: { x: epoch, y: accuracy, experiments: many } }
  - { question: "3", title: Bars of few, plot: { kind: bar, x: experiment, y: result final, experiments: [few, many] } }
  - { question: "4", title: Table, table: { rows: experiment, value: result final, experiments: [few, many] } }
R
git add -A
git commit -qm first
ok orch run r.recipe -q
ok orch report r.recipe --json
printf '%s' "$out" | python3 -c '
import json, sys
sections = json.load(sys.stdin)["sections"]
def series(i): return [b["chart"] for b in sections[i]["blocks"] if b.get("chart")][0]
few, many, bars = series(0), series(1), series(2)
roles = [s["role"] for s in few["series"]]
assert roles.count("run") == 3 and roles.count("measured") == 1, roles
for s in few["series"]: assert len(s["points"]) == 3 and all(p["low"] is None for p in s["points"]), s
assert "the single runs" in few["note"] and "interval" not in few["note"], few["note"]
assert [s["role"] for s in many["series"]] == ["measured"] and "95 % interval" in many["note"], many["note"]
for p in many["series"][0]["points"]: assert 0 < p["low"] < p["y"] < p["high"] < 1 and p["n"] == 6, p
bar = {p["x"]: p for s in bars["series"] if s["role"] == "measured" for p in s["points"]}
assert all(p["high"] is None or p["high"] <= 1 for p in bar.values()), bar   # Student: 0.93 +- 0.16
rows = [b["rows"] for b in sections[3]["blocks"] if b["kind"] == "table"][0]
key = [k for k in rows[0] if k.endswith("_spread")][0]
assert rows[0][key]["form"] == "runs" and rows[0][key]["low"] == 0.62 and rows[0][key]["high"] == 1, rows
assert rows[1][key]["form"] == "interval" and rows[1][key]["high"] < 1 and rows[1][key]["n"] == 6, rows
' || _fail 'bands and runs'
ok orch report r.recipe
has '(0.6200..1)'
has 'is a mean and its 95 % interval'
ok orch plot --x epoch --y accuracy -w 'experiment = few' -o few.svg
[ -s few.svg ] || _fail 'no picture'
ok orch plot --x experiment --y 'result final' --kind bar -o bars.svg
[ -s bars.svg ] || _fail 'no bars'
ok orch plot --x epoch --y accuracy -w 'experiment = few' -o few.csv
[ "$(grep -c ',run,' few.csv)" = 9 ] || _fail 'points of runs in CSV'
