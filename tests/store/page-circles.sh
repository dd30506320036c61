#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A damaged SQLite file whose pages refer to each other in circles, or to one child many times, seems to have endless
# rows. Opening, merging and importing it fails at once.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
printf '%s\n' 'plugin: job' 'version: 1.0.0' 'command: [sh, -c, "echo step=1 accuracy=0.5"]' 'metrics_from: lines' \
    'metrics: { accuracy: { step: epoch } }' >job.plugin
printf '%s\n' 'format: 1' 'recipe: nap' 'experiments: { one: { plugin: ./job.plugin, repeat: 3 } }' >nap.recipe
git add -A
git commit -qm one
ok orch run nap.recipe -q
ok orch db info
python3 -c 'import sqlite3; db = sqlite3.connect(".orch/results.db"); db.execute("PRAGMA journal_mode = DELETE")'
forge() { python3 "$SOURCE/tests/store/forge_pages.py" "$@" || _fail 'no forged file'; }
refused() { # CMD...: ends soon, and says why
    fails 3 timeout 300 "$@"
    says 'belongs to two tables'
    says "hint: 'orch db repair' recovers the runs"
}
for table in run sqlite_schema; do
    for kind in shared self log; do
        rm -rf ../bad
        cp -r .orch ../bad
        forge ../bad/results.db $table $kind
        [ $kind$table != sharedrun ] || python3 - ../bad/results.db <<'P' || _fail 'reading the forged file ends: it proves nothing'
import sqlite3, sys, time
db = sqlite3.connect("file:%s?mode=ro" % sys.argv[1], uri=True)
steps = [0]
def count():
    steps[0] += 1
    return steps[0] > 30
db.set_progress_handler(count, 100000)
try:
    n = sum(1 for _ in db.execute("SELECT id FROM run NOT INDEXED"))
    sys.exit("%d rows" % n)
except sqlite3.OperationalError: # interrupted
    pass
P
        refused orch --db ../bad/results.db ls
        [ $kind = shared ] || continue
        refused orch --db ../bad/results.db db info
        refused orch --db ../bad/results.db status
        refused orch --db ../bad/results.db run nap.recipe
        refused orch db merge ../bad/results.db
    done
done
ok orch db check
ok orch ls --json
same "$(json runs.#)" 3

# 'orch db repair' reads such files, each table of which it goes through, and ends
for table in run note metric sqlite_schema; do
    for kind in shared self log; do
        rm -rf ../bad ../new.db*
        cp -r .orch ../bad
        forge ../bad/results.db $table $kind
        timeout 300 orch db repair --db ../bad/results.db --to ../new.db >../out 2>../err
        status=$?
        [ $status = 0 ] || [ $status = 7 ] || _fail "repair of $table $kind: $status: $(cat ../err)"
        ok orch --db ../new.db db check
    done
done

# MLflow's database
cp "$SOURCE/tests/data/runs/mlflow.db" m.db
chmod u+w m.db
forge m.db runs shared
fails 3 timeout 300 orch import --runs m.db
says 'takes too long'
