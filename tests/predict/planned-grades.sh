# A forecast from before a run is graded apart from those that are updated during it.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
cat >n.plugin <<'P'
plugin: n
version: 1.0.0
about: waits
licence: MIT
command: [sh, wait.sh, "${n}"]
metrics_from: lines
parameters:
  n: {type: int, default: 1, help: what it is called}
metrics:
  x: {help: nothing}
P
echo 'sleep $(cat seconds)
echo x 1' >wait.sh
printf 'format: 1\nrecipe: n\nexperiments:\n  e: { plugin: ./n.plugin, inputs: [n.plugin], repeat: 2 }\n' >n.recipe
echo 0.04 >seconds
git add .
git commit -qm one
ok orch run n.recipe -q
# It takes ten times as long from now on: each forecast that was planned with is wrong. Those made anew are right as soon as
# most of the runs they rest on, 2 old ones and the new, are new.
echo 0.4 >seconds
sed -i 's/repeat: 2/repeat: 8/' n.recipe
ok orch run n.recipe --force --json -j 1
printf '%s' "$out" | python3 -c '
import json, sys
f = json.load(sys.stdin)["forecasts"]
assert f["graded"] == 8 and f["coverage_90"] == 0 and f["median_relative_error"] > 0.7, f
assert 0 < f["renewed"]["graded"] <= 8 and f["renewed"]["coverage_90"] > 0, f
' || _fail 'the grades'
ok orch run n.recipe --force
says 'forecasts made before the run'
ok orch predictor score --json
printf '%s' "$out" | python3 -c '
import json, sys
rows = json.load(sys.stdin)["scores"]
planned = [r for r in rows if r["model"] == "repeats" and r["made"] == "before the run"]
renewed = [r for r in rows if r["model"] == "repeats" and r["made"] == "during the run"]
assert planned and renewed and planned[0]["coverage_90"] < renewed[0]["coverage_90"], rows
assert rows[-2]["tier"] == "all" and rows[-2]["made"] == "before the run", rows
' || _fail 'the scores'
ok orch predictor score
has 'before the run'
has 'during the run'
