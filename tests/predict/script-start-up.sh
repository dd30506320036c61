# A plain script's forecast has its start-up time, and follows a lasting change of speed. The times are set in the store,
# because those of real runs depend on how busy the machine is.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
printf 'plugin: count\nversion: 1.0.0\nabout: counts\nlicence: MIT\ncommand: [sh, count.sh, "${n}"]\nmetrics: any\nparameters:\n  n: { type: int }\n' >count.plugin
echo 'echo x $1' >count.sh
printf 'format: 1\nrecipe: w\nexperiments:\n  e:\n    plugin: ./count.plugin\n    sweep: { n: [1, 3, 10, 30, 60, 100, 150, 200, 300] }\n' >w.recipe
# times FACTOR FIRST: runs from number FIRST on took FACTOR x (0.4 s + 2 ms x n), but for 1 %
times() {
    python3 - "$1" "$2" <<'P'
import json, sqlite3, sys
db = sqlite3.connect(".orch/results.db", isolation_level=None)
for name, in db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
    db.execute(f'DROP TRIGGER "{name}"')
for run, n in db.execute("SELECT run, value FROM param WHERE name = 'n' AND run >= ?", (int(sys.argv[2]),)).fetchall():
    wall = float(sys.argv[1]) * (400 + 2 * int(n)) * (1 + 0.01 * (run * 7919 % 13 / 6 - 1))
    db.execute("UPDATE run SET wall_ms = ?, facts = json_set(facts, '$.foreign_cpu', 0) WHERE id = ?", (wall, run))
P
}
ok orch run w.recipe -q
times 1 0
ok orch plan w.recipe -x n=400 --json
same "$(json trials.0.forecast.tier)" fitted
python3 - "$out" <<'P' || _fail 'the start-up time was not learned'
import json, sys
f = json.loads(sys.argv[1])["trials"][0]["forecast"]
assert 1.15 < f["total_s"] < 1.25 and f["low_s"] <= 1.2 <= f["high_s"] < 1.5, f   # without the start-up 0.7 s
assert "to start" in f["because"], f
P
# the same settings take half as long again from now on
last=$(sqlite3 .orch/results.db 'SELECT max(id) FROM run')
ok orch run w.recipe -q --force -x n=1,10,30,100
times 1.5 $((last + 1))
ok orch plan w.recipe --force -x n=3,300,400 --json
python3 - "$out" <<'P' || _fail 'forecasts do not follow the change of speed'
import json, sys
for trial in json.loads(sys.argv[1])["trials"]:
    f, took = trial["forecast"], 1.5 * (0.4 + 0.002 * trial["params"]["n"])
    assert f["low_s"] < took < f["high_s"] and 0.95 < f["total_s"] / took < 1.05, (took, f)
    assert "trials take 1.5 times as long as before" in f["because"], f
P
