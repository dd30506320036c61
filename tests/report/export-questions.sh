#!/usr/bin/env bash
# 'orch export RUN', metrics that are only NaN in 'orch compare', and forecasts of runs under foreign load.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
cat >t.sh <<'S'
echo "step 0 loss=$1"; echo "step 1 loss=nan acc=0.$2"
S
ok orch try -x v=1,2 --repeat 2 -- sh t.sh '{v}' 5
# the runs that are named, as the usage line says
ok orch export @last --what points -m loss -m acc --format jsonl
one=$(wc -l <<<"$out")
ok orch export --what points -m loss -m acc --format jsonl
all=$(wc -l <<<"$out")
[ "$one" -ge 1 ] && [ $((4 * one)) = "$all" ] || _fail "$one points of a run, $all of four"
ok orch export @last -c key,v --format jsonl
same "$(wc -l <<<"$out")" 1
ok orch ls -n 0 --json
key=$(json runs.3.key)
ok orch export "$key" @last -c key --format jsonl
same "$(wc -l <<<"$out")" 2
fails 2 orch export nosuchrun --what points
says nosuchrun
ok orch export "$key" --where 'v = 17' -c key --format jsonl
same "$out" ''
fails 2 orch export "$key" --artifacts all
says "options '--artifacts', '--measurements' and '--dry-run' need '--bundle'"
# a metric that is NaN at the end of all runs of a side is shown as that
ok orch compare v=1 v=2
has 'loss'
has 'NaN in all 2 runs of A, NaN in all 2 runs of B'
ok orch compare v=1 v=2 --json
python3 -c '
import json, sys
rows = {r["metric"]: r for r in json.load(sys.stdin)["metrics"]}
loss, acc = rows["loss"], rows["acc"]
assert loss["a"]["n"] == 0 and loss["nan_a"] == 2 and loss["nan_b"] == 2 and loss["verdict"] == "unknown", loss
assert acc["a"]["n"] == 2 and acc["nan_a"] == 0, acc' <<<"$out" || _fail 'compare --json'
ok orch compare v=1 v=2 --metric loss
has 'NaN in all 2 runs of A'
fails 2 orch compare v=1 v=2 --metric nosuch
# forecasts of disturbed runs are scored apart
fails 2 orch predictor score --by time --slurm
says "option '--by' excludes '--slurm'"
python3 - <<'P'
import json, sqlite3
db = sqlite3.connect(".orch/results.db", isolation_level=None)
runs = db.execute("SELECT key, fingerprint, facts FROM run ORDER BY id").fetchall()
db.execute("DELETE FROM forecast")
for key, fingerprint, facts in runs:
    db.execute("INSERT INTO forecast(fingerprint, machine, model, made, p5, p50, p95, tier, run) VALUES(?, 'm', 'x', 1700000000000000000, 0.001, 5, 1000, 'measured', ?)",
               (fingerprint or key, key))
# the last run was disturbed: its facts change under the triggers that forbid that
triggers = db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
for name, _ in triggers: db.execute('DROP TRIGGER "%s"' % name)
for key, _, facts in runs:
    facts = dict(json.loads(facts or "{}"), foreign_cpu=0.9 if key == runs[-1][0] else 0.0)
    db.execute("UPDATE run SET facts = ? WHERE key = ?", (json.dumps(facts), key))
for _, sql in triggers: db.execute(sql)
P
ok orch predictor score --json
python3 -c '
import json, sys
rows = [(r["load"], r["tier"], r["forecasts"]) for r in json.load(sys.stdin)["scores"]]
assert rows == [("own", "measured", 3), ("foreign", "measured", 1), ("own", "all", 3), ("foreign", "all", 1)], rows' <<<"$out" || _fail 'predictor score'
