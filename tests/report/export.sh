# 'orch export' writes runs and points as tables, and all commands accept the same filters.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
mkdir exp
cat >exp/talk.plugin <<'Y'
plugin: talk
command: [python3, talk.py, "${lr}", "${seed}"]
parameters:
  lr: { type: real, default: 0.1 }
  note: { type: string, default: "a, \"b\"" }
metrics:
  loss: { better: min, step: step }
  odd: { step: step }
Y
cat >exp/talk.py <<'P'
import json, sys
lr = float(sys.argv[1])
if lr == 9: sys.exit(3)
for i, loss in enumerate([3, 1, 2]):
    print(json.dumps({"step": i, "loss": loss * lr, "odd": "nan" if i == 1 else i}))
P
cat >talk.recipe <<'R'
format: 1
recipe: talk
experiments:
  talk: { plugin: exp/talk.plugin, sweep: { lr: [0.1, 0.001] }, repeat: 2 }
  bad: { plugin: exp/talk.plugin, with: { lr: 9 } }
R
git add -A
git commit -qm first
_run orch run talk.recipe
ok orch export --out all.csv
says "5 rows in 'all.csv'"
python3 - <<'P' || _fail 'all.csv'
import csv, datetime
rows = list(csv.DictReader(open("all.csv", newline="")))
assert len(rows) == 5 and [r["state"] for r in rows] != []
good = [r for r in rows if r["state"] == "ok"]
assert len(good) == 4 and all(len(r["key"]) == 36 for r in rows)
assert sorted(float(r["param.lr"]) for r in good) == [0.001, 0.001, 0.1, 0.1]
for r in good:
    lr = float(r["param.lr"])
    assert float(r["metric.loss"]) == 2 * lr and float(r["best.loss"]) == lr, r
    assert r["param.note"] == 'a, "b"' and float(r["metric.odd"]) == 2
    assert "best.odd" not in r and r["recipe"] == "talk" and r["dirty"] in ("true", "false")
    datetime.datetime.fromisoformat(r["started"].replace("Z", "+00:00"))
bad = [r for r in rows if r["state"] != "ok"][0]
assert bad["experiment"] == "bad" and bad["metric.loss"] == "" and bad["reason"]
starts = [r["ended"] for r in rows]
assert starts == sorted(starts)
P
# chosen columns; the three formats say the same
ok orch export -c key,lr,best.loss,loss,min.loss --where 'lr < 0.01'
same "$(printf '%s\n' "$out" | head -1 | tr -d '\r')" 'key,lr,best.loss,loss,min.loss'
has ',0.001,0.001,0.002,0.001'
has_not ',0.1,'
ok orch export --columns lr,repeat,metric.loss --format json --where 'state = ok'
same "$(json '#') $(json 0.lr) $(json 0.repeat)" '4 0.1 1'
ok orch export --columns lr,repeat --out r.jsonl --where 'state = ok'
same "$(python3 -c 'import json; print([json.loads(l) for l in open("r.jsonl")][0])')" "{'lr': 0.1, 'repeat': 1}"
ok orch export --where 'lr = 77' -f json
same "$(json '#')" 0
ok orch export --where 'lr = 77' -c key
same "$(printf '%s' "$out" | tr -d '\r')" key
# points, NaN as nothing
ok orch export --what points --metric odd -c lr,repeat --where 'lr = 0.1'
same "$(printf '%s\n' "$out" | wc -l)" 7
has 'lr,repeat,metric,step,t_s,value'
same "$(printf '%s\n' "$out" | tr -d '\r' | grep -c ',odd,1,[0-9.e-]*,$')" 2
# named, because a run of over a second has system metrics, too
ok orch export --what points -m loss -m odd --json
same "$(json schema_version) $(json 'points.#')" '1 24'
same "$(json points.0.metric) $(json points.0.step)" 'loss 0'
python3 -c 'import sys; assert len(sys.argv[1]) == 36' "$(json points.0.key)" || _fail 'no run key'
ok orch export --what points -m loss -m odd -f jsonl --out p.jsonl
same "$(wc -l <p.jsonl)" 24
if python3 -c 'import pandas' 2>/dev/null; then
    ok python3 -c '
import pandas
runs, points = pandas.read_csv("all.csv"), pandas.read_json("p.jsonl", lines=True)
assert set(points.key) == set(runs[runs.state == "ok"].key) and runs["param.lr"].dtype == float'
fi
# wrong words
fails 2 orch export -c key,los
says "did you mean 'loss'?"
fails 2 orch export -c param.loss
says "has a 'param.loss'"
fails 2 orch export --format xml
says 'csv, json, jsonl'
fails 2 orch export --what rows
says 'runs, points'
fails 2 orch export -m loss
says "option '--metric' needs '--what points'"
# a full disk, a missing folder: nothing is lost
fails 3 orch export --out nowhere/x.csv
says 'nowhere/x.csv'
printf keep >kept.csv
fails 2 orch export --out kept.csv -c wrong
same "$(cat kept.csv)" keep
if [ -w /dev/full ]; then
    orch export >/dev/full 2>e
    same $? 3 'a full disk'
fi
ls ./*.tmp* 2>/dev/null && _fail 'a temporary file is left'

# one language: the same condition finds the same runs, and the same mistake says the same
keys() { python3 -c 'import json, sys; print(sorted(r["key"] for r in json.load(sys.stdin)["runs"]))'; }
for where in 'lr < 0.01' "note ~ 'b'" 'state = ok and not lr = 0.1' 'loss > 0.1 or repeat = 2'; do
    a=$(orch ls -n 0 --where "$where and state = ok" --json | keys)
    b=$(orch export -c key -f json --where "$where and state = ok" | python3 -c 'import json, sys; print(sorted(r["key"] for r in json.load(sys.stdin)))')
    same "$a" "$b" "$where"
done
for wrong in 'lr <' 'lrr = 1' 'lr = loss' '(lr = 1' 'lr = 1) or (lr = 2' 'learning'; do
    for command in 'ls --where' 'best loss --where' 'export --where' 'predictor rows --where' 'predictor train --where' \
        'curve --where' 'compare talk talk --where'; do
        fails 2 orch $command "$wrong"
        says "of condition '$wrong'"
        said=$(printf '%s' "$err" | head -1)
        [ "$command" = 'ls --where' ] && first=$said
        same "$said" "$first" "orch $command"
    done
done
# a name that no run has is said, and is no silent empty table
ok orch export --what points -m nobody
says "no value of 'nobody'"
