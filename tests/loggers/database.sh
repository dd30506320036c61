#!/usr/bin/env bash
# test: quick
# SPDX-License-Identifier: GPL-3.0-or-later
# A database of a tracker, which a trial writes for a while: its values are there before the trial ends, and are those of the runs
# that began with it. Nothing is left beside the database, and of one that two trials write at once neither takes values.
. "$(dirname "$0")/../cli/lib.sh"
cat >train.py <<'P'
import os, sqlite3, sys, time
path, run, action, go = sys.argv[1:5]
db = sqlite3.connect(path, isolation_level=None)
now = lambda: int(time.time() * 1000)
if action != "go on":
    for table in ("experiments(experiment_id INTEGER, name TEXT)", "params(run_uuid TEXT, key TEXT, value TEXT)",
                  "runs(run_uuid TEXT, name TEXT, status TEXT, start_time INT, end_time INT, user_id TEXT, experiment_id INT,"
                  " lifecycle_stage TEXT)", "tags(run_uuid TEXT, key TEXT, value TEXT)",
                  "metrics(run_uuid TEXT, key TEXT, value REAL, timestamp INT, step INT, is_nan INT)",
                  "latest_metrics(run_uuid TEXT, key TEXT, value REAL, timestamp INT, step INT, is_nan INT)"):
        db.execute(f"CREATE TABLE IF NOT EXISTS {table}")
    db.execute("INSERT INTO runs VALUES(?, ?, 'RUNNING', ?, NULL, '', 0, 'active')", (run, run, now()))
    db.execute("INSERT INTO params VALUES(?, 'lr', '0.5')", (run,))

def log(name, step, value):
    row = (run, name, value, now(), step, 0)
    for table in ("metrics", "latest_metrics"):
        db.execute(f"INSERT INTO {table} VALUES(?, ?, ?, ?, ?, ?)", row)

log("loss", 1, 0.5)
for value in 1, 3, 5:
    log("stepless", 0, value)
while action == "wait" and not os.path.exists(go):
    time.sleep(0.05)
log("loss", 2, 0.25)
db.execute("UPDATE runs SET status = 'FINISHED' WHERE run_uuid = ?", (run,))
if action == "locked":
    db.execute("BEGIN EXCLUSIVE")
    time.sleep(1.5)
    db.execute("INSERT INTO metrics VALUES(?, 'late', 9, 1, 1, 0)", (run,))
    db.execute("COMMIT")
P
printf '*.db*\n/go\n' >.gitignore
show() {
    ok orch show "$(orch ls --where "experiment = $1" --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["runs"][0]["key"])')"
}
go=$PWD/go
orch try --no-progress --name first -- python3 train.py a.db one wait "$go" >"$SCRATCH/try" 2>&1 &
pid=$!
until_true grep -rqs '"loss",1,[0-9.]*,0.5\]' .orch/results.db.d/trials
: >go
wait $pid || _fail "$(cat "$SCRATCH/try")"
show first
has 'a.db (mlflow), 5 values'
has 'stepless       3       1       5'
has 'lr             0.5'
same "$(ls ./*.db*)" ./a.db 'what reading left'

# only its own run counts; a locked database is read later
rm go
ok orch try --no-progress --name second -- python3 train.py a.db two locked "$go"
show second
has 'a.db (mlflow), 6 values'
has 'late'

# a run that is continued is not taken, and that is said
ok orch try --no-progress --name third -- python3 train.py a.db one 'go on' "$go"
show third
has 'a.db: it continues a run that was there before, so it is not recorded'
has_not '(mlflow)'

# two trials at once
orch try --no-progress --no-pin --name fourth -- python3 train.py a.db four wait "$go" >"$SCRATCH/try" 2>&1 &
pid=$!
until_true grep -rqs '"loss",1,[0-9.]*,0.5\]' .orch/results.db.d/trials
ok orch try --no-progress --no-pin --oversubscribe --name fifth -- python3 train.py a.db five now "$go"
: >go
wait $pid || _fail "$(cat "$SCRATCH/try")"
for name in fourth fifth; do
    show $name
    has 'a.db: another trial writes it, too'
    has_not '(mlflow)'
done

# a database of another kind is none of a tracker
cat >other.py <<'P'
import sqlite3
db = sqlite3.connect("other.db")
db.execute("CREATE TABLE metrics(a, b)")
db.commit()
P
ok orch try --no-progress --name sixth -- python3 other.py
show sixth
has_not 'other.db:'
has_not 'other.db ('
