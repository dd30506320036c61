# The report item 'search': its numbers on a search whose values are known, and what it says when it knows little.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
cat >model.py <<'P'
import json, os, sys
p = json.loads(os.environ['ORCH_PARAMS'])
seed = int(os.environ['ORCH_SEED'])
if p['kind'] == 'fails' and p['x'] > 6:
    sys.exit('too large')
if p['kind'] == 'noise':
    print(f"loss={((seed ^ int(p['x'] * 7919)) * 2654435761 % 2**32) / 2**32}")
elif p['kind'] == 'equal':
    print('loss=1')
else:
    print(f"loss={p['x'] + (0.5 if seed % 2 else 0)}")
P
cat >model.plugin <<'P'
plugin: model
version: 1.0.0
about: a loss in closed form
metrics_from: lines
command: [python3, model.py]
parameters:
  kind: { type: string, default: line }
  x: { type: int, min: 1, max: 1000, default: 1 }
  y: { type: real, default: 1 }
metrics:
  loss: { better: min }
P
recipe() { # recipe NAME KIND TRIALS REPEAT [MORE-EXPERIMENTS [MORE-KEYS]]
    cat >"$1.recipe" <<R
format: 1
recipe: $1
experiments:
  tune:
    plugin: model
    with: { kind: $2 }
    search:
      x: int(1, 8)
    objective: { metric: min loss, trials: $3, sampler: sobol }
    repeat: $4
${5-}
report:
  - { title: Search, search: { experiments: ${6-tune} } }
R
}
git add .
git commit -qm model

# every point of 1 to 8 with two repeats: 1 is the best, and a grid has 5 values
recipe line line 8 2
ok orch report line.recipe
has 'missing'
ok orch run line.recipe -q
ok orch report line.recipe --json
python3 - "$SCRATCH/out" <<'P' || _fail 'the item of a line'
import json, sys
section, = [s for s in json.load(open(sys.argv[1]))["sections"] if s["kind"] == "search"]
blocks = section["blocks"]
assert blocks[0]["kind"] == "answer", blocks[0]
answer = blocks[0]["text"]
assert "Best of 8 settings of tune: x=1. Its last loss is 1" in answer, answer
row, = [b for b in blocks if b["kind"] == "table"][0]["rows"]
assert (row["settings_planned"], row["ended"], row["pruned"], row["failed"]) == (8, 8, 0, 0), row
assert row["settings_of_grid"] == 5, row
assert abs(row["grid's_device_time"] - row["device_time"] / 8 * 5) < 1e-6 * row["device_time"], row
steps = [b["chart"] for b in blocks if b["kind"] == "chart"]
best = [s for p in steps[0]["panels"] for s in p["series"]] if "panels" in steps[0] else steps[0]["series"]
best = [s for s in best if s["name"] == "best so far"][0]["points"]
assert all(a["y"] >= b["y"] and a["x"] <= b["x"] for a, b in zip(best, best[1:])), best
assert best[-1]["x"] == 8
assert any("8 settings ended, and 10 are needed" in (b.get("text") or "") for b in blocks), "importance of 8 points"
P
# a failed point has no value and is no best; a failure of code that was changed since is none of the search
recipe fails fails 8 1
fails 1 orch run fails.recipe -q --keep-going
ok orch report fails.recipe --json
python3 - "$SCRATCH/out" <<'P' || _fail 'failed points'
import json, sys
section, = [s for s in json.load(open(sys.argv[1]))["sections"] if s["kind"] == "search"]
row, = [b for b in section["blocks"] if b["kind"] == "table"][0]["rows"]
assert (row["ended"], row["failed"]) == (6, 2), row
P
ok orch report fails.recipe
has 'failed, without value'
sed -i 's/> 6/> 100/' model.py
ok orch run fails.recipe -q
ok orch report fails.recipe
has 'Best of 8 settings'
has_not 'failed, without value'
git checkout -q model.py

# all values equal: no parameter matters, and there is no luck in them
recipe equal equal 8 2
sed -i 's/x: int(1, 8)/x: int(1, 30)/; s/trials: 8/trials: 12/' equal.recipe
ok orch run equal.recipe -q
ok orch report equal.recipe
has 'epeats gave equal values, so this value is not luck'
has 'importance of the parameters: none, all results are equal'

# noise: the winner is luck by its repeats, and no parameter is named
recipe noise noise 30 2
sed -i 's/x: int(1, 8)/x: int(1, 1000)/' noise.recipe
ok orch run noise.recipe -q -j 2
ok orch report noise.recipe
has 'If all 30 settings were equally good, the best of them would still lead by '
has_not ', and explains'
# a line over the same range: x is named with its interval, and drawn
recipe clear line 30 1
sed -i 's/x: int(1, 8)/x: int(1, 1000, log)/' clear.recipe
ok orch run clear.recipe -q -j 2
ok orch report clear.recipe
has 'x          1 to 1000, logarithmic'
has 'tune: loss by x'
has 'Only repeats can show by how much'

# fresh repeats estimate the winner anew; it is not chosen by them
again=$(sed -n "s/.*for an unbiased value, repeat the best setting: add the experiment '\(again: .*\)' to the recipe/\1/p" <<<"$out")
[ -n "$again" ] || _fail 'no experiment is proposed'
recipe clear line 30 1 "  $again" '[tune, again]'
sed -i 's/x: int(1, 8)/x: int(1, 1000, log)/' clear.recipe
ok orch run clear.recipe -q
ok orch report clear.recipe
has '5 fresh repeats, not used to choose the setting, give'
has_not 'for an unbiased value'

# two numbers that matter: lines of equal values lie where the values are; with choices there is a grid that says why
cat >hill.recipe <<'R'
format: 1
recipe: hill
experiments:
  tune:
    plugin: hill
    search:
      x: uniform(0, 1)
      y: loguniform(1, 100)
    objective: { metric: min loss, trials: 40, sampler: sobol }
report:
  - { title: Search, search: { experiments: tune } }
R
sed 's/^plugin: model/plugin: hill/; s/model.py/hill.py/; s/^  x: .*/  x: { type: real, default: 0 }/' model.plugin >hill.plugin
cat >hill.py <<'P'
import json, math, os
p = json.loads(os.environ['ORCH_PARAMS'])
print(f"loss={(p['x'] - 0.5) ** 2 + (math.log10(p['y']) / 2 - 0.5) ** 2}")
P
ok orch run hill.recipe -q -j 2
ok orch report hill.recipe --json
python3 - "$SCRATCH/out" <<'P' || _fail 'the lines of equal values'
import json, math, sys
section, = [s for s in json.load(open(sys.argv[1]))["sections"] if s["kind"] == "search"]
chart, = [b["chart"] for b in section["blocks"] if b["kind"] == "chart" and "lines: equal values" in (b["chart"]["note"] or "")]
axes = (chart["x"], chart["y"])
assert set(axes) == {"x", "y"} and chart["log_" + ("x" if axes[0] == "y" else "y")], axes
lines = [s for s in chart["series"] if s["role"] == "level"]
assert len({s["name"] for s in lines}) >= 4, lines
off = []
for s in lines:
    for p in s["points"]:
        at = {axes[0]: p["x"], axes[1]: p["y"]}
        true = (at["x"] - 0.5) ** 2 + (math.log10(at["y"]) / 2 - 0.5) ** 2
        off.append(abs(true - float(s["name"])))
assert sorted(off)[len(off) // 2] < 0.01, sorted(off)[len(off) // 2]  # of values from 0 to 0.5
assert sum(len(s["points"]) for s in chart["series"] if s["role"] == "measured") == 40
P
sed -i 's/      x: uniform(0, 1)/      x: [0, 0.25, 0.5, 1]/' hill.recipe
ok orch run hill.recipe -q -j 2
ok orch report hill.recipe
has 'Lines of equal values need'

# an item without a search says so; its keys are checked
sed -i 's/experiments: \[tune, again\]/experiments: again/' clear.recipe
ok orch report clear.recipe
has 'no experiment of this item is a search'
sed -i 's/experiments: again/metric: loss/' clear.recipe
fails 2 orch check clear.recipe
says "unknown key 'metric'"
