#!/usr/bin/env bash
# test: quick
# SPDX-License-Identifier: GPL-3.0-or-later
# Files of the real loggers (files/, by make_files.py) that a trial writes: every series equals, by name, step and value, what
# the logger's own reader says of it.
. "$(dirname "$0")/../cli/lib.sh"
files=$SOURCE/tests/loggers/files
cat >points.py <<'P'
import sqlite3, sys
db = sqlite3.connect(".orch/results.db")
rows = db.execute("SELECT n.name, x.step, x.value FROM metric x JOIN metric_name n ON n.id = x.name_id WHERE x.run ="
                  " (SELECT max(id) FROM run) AND n.name NOT LIKE 'system/%'")
found = sorted((n, s, repr(float("nan") if v is None else v)) for n, s, v in rows)
want = sorted({(n, int(s), repr(float(v))) for n, s, v in (line.rstrip("\n").split("\t") for line in open(sys.argv[1]))})
assert found == want, f"{sys.argv[1]}: missing {sorted(set(want) - set(found))[:5]}, more {sorted(set(found) - set(want))[:5]}"
P
printf '/out/\n' >.gitignore
while read -r format names; do
    rm -rf out
    # shellcheck disable=SC2086
    ok orch try --no-progress --name "${format//./-}" -- python3 "$SOURCE/tests/loggers/place.py" $(cd "$files" && printf "$files/%s " $names) out
    ok python3 points.py "$files/$format.points"
done <<'T'
torch torch.tfevents.*
resumed resumed.tfevents.*
lightning lightning/metrics.csv
hparams hparams.tfevents.*
images images.tfevents.*
keras keras.csv
sb3 sb3/progress.csv
wandb-0.16 wandb-0.16.wandb
wandb-0.31 wandb-0.31.wandb
swanlab-0.10 swanlab-0.10.swanlab
mlruns-2.9 mlruns-2.9
mlruns-3.17 mlruns-3.17
mlflow-2.9 mlflow-2.9.sql
mlflow-3.17 mlflow-3.17.sql
trackio-0.2 trackio-0.2.sql
trackio-0.43 trackio-0.43.sql
dvclive dvclive
T

# what the script says of its settings selects runs, and a further run of one logger keeps its own
selects() {
    ok orch ls --where "$2" --json
    same "$(grep -c '"key"' <<<"$out")" "$1" "$2"
}
for format in hparams wandb-0-31 mlruns-3-17 mlflow-3-17 trackio-0-43 dvclive; do
    selects 1 "experiment = $format and logged.lr = 0.1"
done
selects 4 'logged.child/lr = 0.2'
selects 3 'logged.opt.name = sgd and result.best = 0.9'

# the last image of each name is an artifact
key=$(orch ls --where 'experiment = images' --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["runs"][0]["key"])')
orch show "$key" --artifact net_filters >last.png || _fail 'no image'
python3 - "$files"/images.tfevents.* <<'P' || _fail 'another image'
import sys
events = b"".join(open(path, "rb").read() for path in sys.argv[1:])
assert events.rindex(open("last.png", "rb").read()) == events.rindex(b"\x89PNG")
P

# the same files as runs of others
python3 "$SOURCE/tests/loggers/place.py" "$files/trackio-0.43.sql" "$files/mlflow-3.17.sql" dbs
for db in trackio-0.43 mlflow-3.17; do
    ok orch import --runs "dbs/$db.db"
done
says '2 runs added'
same "$(ls dbs)" 'mlflow-3.17.db
trackio-0.43.db' 'what reading left'
