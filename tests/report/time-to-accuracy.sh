# The report item 'time_to_accuracy', on a program with known times, some of whose runs never reach the target.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
cat >times.py <<'P'
import os, sys
times = {"all": [30, 10, 20, 50, 40], "most": [30, 10, 20, None, None], "half": [30, 10, None, None],
         "never": [None] * 5, "one": [30], "lost": [30, 10, 20, "lost", 40], "same": [7] * 5}[sys.argv[1]]
repeat = int(os.environ["ORCH_REPEAT"])
time = times[repeat - 1] if repeat <= len(times) else None
if len(sys.argv) < 3:
    print("reached", int(time is not None))
if time not in (None, "lost"):
    print("tta", time)
    print("epochs", time // 10)
P
cat >times.plugin <<'Y'
command: [python3, times.py, "${kind}"]
metrics_from: lines
parameters:
  kind: { type: string, default: all }
metrics:
  tta: { better: min, unit: s }
  epochs: { better: min }
  reached: { better: max }
Y
cat >t.recipe <<'R'
format: 1
recipe: t
experiments:
  timed: { plugin: ./times.plugin, sweep: { kind: [all, most, half, never, one, lost, same] }, repeat: 5 }
report:
  - { question: "1", title: By kind, time_to_accuracy: { value: result tta, reached: result reached, by: kind } }
  - { question: "2", title: Two values, time_to_accuracy: { value: [result tta, result epochs], reached: result reached, by: [kind, machine], where: kind = most } }
  - { question: "3", title: Together, time_to_accuracy: { value: result tta, reached: result reached, where: kind = all } }
  - { question: "4", title: By machine, time_to_accuracy: { value: result tta, reached: result reached, by: machine } }
R
# trials that have not run have no machine; they are missing all the same
ok orch report t.recipe --only 4
has '35 of 35 trials are not run'
ok orch run t.recipe -q
ok orch report t.recipe --disturbed --only 1
has_not missing
has 'Koopmans'
has '1 run reached the target but recorded no time; it is counted'
has 'half of the runs or fewer reached the target'
ok orch report t.recipe --disturbed --only 1 --json
python3 - "$SCRATCH/out" <<'P' || _fail 'the table'
import json, math, sys
blocks = json.load(open(sys.argv[1]))["sections"][0]["blocks"]
rows = {r["kind"]: r for r in [b["rows"] for b in blocks if b["kind"] == "table"][0]}
def check(kind, runs, reached, median, ends):
    r = rows[kind]
    assert (r["runs"], r["median"], r["range"]) == (runs, median, ends), r
    assert abs(r["reached"] - reached / runs) < 1e-12, r
check("all", 5, 5, 30, [10, 50])
check("most", 5, 3, 30, [10, 30])
check("half", 5, 2, None, [10, 30])
check("never", 5, 0, None, None)
check("one", 5, 1, None, [30, 30])
check("lost", 5, 5, 25, [10, 40])
check("same", 5, 5, 7, [7, 7])
assert rows["never"]["cv"] is None and rows["one"]["cv"] is None and rows["one"]["cv_interval"] is None, rows
assert rows["same"]["cv"] == 0 and rows["same"]["cv_interval"] is None, rows
# three times: with 2 degrees of freedom the quantile of chi-square at p is -2 ln(1 - p)
logs = [math.log(t) for t in (30, 10, 20)]
squares = sum((x - sum(logs) / 3) ** 2 for x in logs)
wanted = [math.sqrt(math.expm1(squares / (-2 * math.log(q)))) for q in (0.025, 0.975)]
assert abs(rows["most"]["cv"] - 0.5) < 1e-12, rows["most"]
assert all(abs(a - b) < 1e-9 * b for a, b in zip(rows["most"]["cv_interval"], wanted)), (rows["most"], wanted)
P
ok orch report t.recipe --disturbed --only 2
has 'tta (s)'
has epochs
has '3 of 5'
ok orch report t.recipe --disturbed --only 3
has '5 of 5'
has 'all '
has_not 'is longer than all others'
# runs that do not say whether they reached a target have not failed to: their setting is named apart
sed 's/"${kind}"\]/"${kind}", silent]/' times.plugin >silent.plugin
cat >s.recipe <<'R'
format: 1
recipe: s
experiments:
  timed: { plugin: ./times.plugin, sweep: { kind: [all] }, repeat: 5 }
  silent: { plugin: ./silent.plugin, sweep: { kind: [never] }, repeat: 2 }
report:
  - { question: "1", title: By kind, time_to_accuracy: { value: result tta, reached: result reached, by: kind } }
  - { question: "2", title: None, time_to_accuracy: { value: result tta, reached: result reached, by: kind, experiments: silent } }
R
ok orch run s.recipe -q
ok orch report s.recipe --disturbed --only 1
has "these settings have no target (no result 'reached'): "
has_not '0 of 2'
has '5 of 5'
ok orch report s.recipe --disturbed --only 2
has_not 'half of the runs or fewer'
# wrong items are found when the recipe is read
for wrong in 's/value: result tta, r/r/' 's/reached: result reached/reached: [result reached]/' 's/result tta/result ttb/' 's/by: kind }/by: king }/'; do
    sed "$wrong" t.recipe >bad.recipe
    fails 2 orch check bad.recipe
    says 'bad.recipe:'
done
