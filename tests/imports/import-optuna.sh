#!/usr/bin/env bash
# The trials of Optuna's studies become runs of the store, with their ranges, values and curves; a hostile file gives an error.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
D=$SOURCE/tests/data/runs
rows() { python3 -c '
import json, sys
for r in json.load(sys.stdin)["runs"]:
    print(r["what"], r["name"], r["state"], int(r["params"]), int(r["points"]))' <<<"$out"; }
shown() { # shown NAME: the run of that name, as JSON
    ok orch ls --where "run_name = '$1'" --json
    ok orch show "$(json runs.0.key)" --json
}

for what in added known; do
    ok orch import --runs "$D/study.db" --json
    same "$(rows)" "$what Digits CNN/0 ok 5 4"$'\n'"$what Digits CNN/1 failed 5 0"$'\n'"$what Digits CNN/2 pruned 5 2"$'\n'"$what Digits CNN/3 ok 5 4"$'\n'"$what two/0 ok 1 0"$'\n'"$what plain/0 ok 1 0"
    says "2 trials have not ended and are left out"
done

# a parameter is what the program got, not what the database keeps
shown Digits_CNN/0
same "$(json experiment) $(json plugin) $(json params.opt) $(json params.depth) $(json params.width) $(json params.drop)" 'digits_cnn import:optuna 10 2 8 0.4'
same "$(json results.value) $(json started) $(json ended)" '0.00465680463791957 2026-11-27T06:14:02.140737000Z 2026-11-27T06:14:02.825262000Z'
label() { python3 -c 'import json, sys; print(json.load(sys.stdin)["facts"]["imported"]["labels"].get(sys.argv[1]))' "$1" <<<"$out"; }
same "$(label optuna.range.lr)" 'loguniform(0.0001, 1)'
same "$(label optuna.range.drop)" 'uniform(0, 0.5, step 0.1)'
same "$(label optuna.range.width)" 'int(8, 256, log)'
same "$(label optuna.range.depth)" 'int(1, 4)'
same "$(label optuna.range.opt)" '[sgd, None, true, 3, 0.5, 10]'
same "$(label optuna.direction.value) $(label optuna.study.team) $(label note) $(label gpus)" 'maximize vision seed 0 [0, 1]'
python3 - <<'P' || _fail 'types and curves'
import sqlite3
db = sqlite3.connect(".orch/results.db")
curve = db.execute("SELECT m.step, m.value FROM metric m JOIN metric_name n ON n.id = m.name_id JOIN run r ON r.id = m.run"
                   " WHERE n.name = 'intermediate_value' AND r.build LIKE '0 %Digits CNN' ORDER BY m.step").fetchall()
values = dict(db.execute("SELECT r.build, p.value FROM param p JOIN run r ON r.id = p.run WHERE p.name = 'opt'"))
first = [v for k, v in values.items() if k.startswith("0 ")]
raise SystemExit([s for s, _ in curve] != [0, 1, 2, 3] or curve[2][1] is not None or curve[3][1] < 3 or first != ['"10"'])
P
# what is pruned has a curve and no result; an infinity stays one
shown Digits_CNN/2
same "$(json results) $(json state) $(json reason)" "{} pruned optuna says 'PRUNED'"
ok orch best value --max --imported
has 'opt=3 width=221, value inf, 1 repeat'
has_not 'drop=0.5'
ok orch ls --where 'plugin = import:optuna and value = inf' --json
same "$(json runs.#)" 1

# several objectives: by the names that the user gave them, else by their number
shown two/0
same "$(json results.accuracy) $(label optuna.direction.loss) $(label optuna.direction.accuracy)" '2.0 minimize maximize'
shown plain/0
same "$(json results.value_0) $(json results.value_1) $(label optuna.range.n)" '5.0 2.0 int(0, 10, step 5)'
ok orch db check

# before version 5 Optuna wrote local times
change() { # change FILE SQL...: a copy of the study, changed
    cp "$D/study.db" "$1"
    chmod u+w "$1"
    python3 -c 'import sqlite3, sys; db = sqlite3.connect(sys.argv[1], isolation_level=None); [db.execute(sql) for sql in sys.argv[2:]]' "$@"
}
change old.db "UPDATE version_info SET library_version = '4.9.0'"
ok env TZ=UTC-9 orch --db old/r.db import --runs old.db
ok orch --db old/r.db ls --where "run_name = 'plain/0'" --json
same "$(json runs.0.started)" 2026-11-26T21:14:05.146401000Z

# what Optuna does not write: named, and nothing hangs
change bad.db "UPDATE trial_params SET distribution_json = '{\"name\": \"Odd\"}' WHERE param_id = 1" "UPDATE trial_params SET param_value = 99 WHERE param_name = 'opt' AND trial_id = 1"
ok orch --db bad/r.db import --runs bad.db
says "its parameter 'lr' is left out"
says "its parameter 'opt' is left out"
change time.db "UPDATE trials SET datetime_start = '1890-01-01 00:00:00.0' WHERE trial_id = 1"
fails 7 orch --db time/r.db import --runs time.db
says "is not imported: its started_ns"
change v2.db "ALTER TABLE trial_values DROP COLUMN value_type"
fails 3 orch import --runs v2.db
says 'no such column: value_type'
says 'optuna storage upgrade'
change view.db "DROP TABLE trial_params" "CREATE VIEW trial_params AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x AS param_id, 1 AS trial_id, 'x' AS param_name, 1.0 AS param_value, '' AS distribution_json FROM n"
fails 2 timeout 60 orch import --runs view.db
says "it has no table 'trial_params' that can be read"
# a small file whose rows are long: a column that is computed, in each of many rows
change long.db "DROP TABLE trial_user_attributes" "CREATE TABLE trial_user_attributes(trial_id, key, value_json AS (hex(zeroblob(500000))))" \
    "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 20000) INSERT INTO trial_user_attributes SELECT 1, 'k' || x FROM n"
fails 3 timeout 60 orch import --runs long.db
says 'reading this file of Optuna takes too long'
head -c 20000 "$D/study.db" >cut.db
fails 3 orch import --runs cut.db
says "cannot read 'cut.db'"
