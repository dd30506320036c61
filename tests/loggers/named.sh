#!/usr/bin/env bash
# test: quick
# SPDX-License-Identifier: GPL-3.0-or-later
# Files with other names, which the user names; loggers whose values orch cannot read are named with the way out; files whose
# values became metrics are no files that nobody expects.
. "$(dirname "$0")/../cli/lib.sh"
show() {
    ok orch show "$(orch ls --where "experiment = $1" --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["runs"][0]["key"])')"
}
cat >train.py <<'P'
import os
os.makedirs("runs/a", exist_ok=True)
with open("runs/a/curve.out", "w") as f:
    f.write("loss,acc\n1,0.5\n0.5,0.75\n")
with open("runs/a/steps.dat", "w") as f:
    f.write('{"f1": 1}\n{"f1": 2}\n')
with open("runs/a/end", "w") as f:
    f.write("auc: 0.9\ntest:\n  f1: .nan\n")
P
git add -A && git commit -qm first
ok orch try --no-progress --name none -- python3 train.py
show none
has_not '(csv)'
says_not 'neither tracked'
rm -r runs
ok orch try --no-progress --name all --metrics-file 'runs/*' -- python3 train.py
has_not 'neither tracked'
says_not 'neither tracked'
show all
has 'runs/a/curve.out (csv), 4 values'
has 'runs/a/steps.dat (json lines), 2 values'
has 'runs/a/end (yaml), 2 values'
has 'auc            0.9'

# by its name alone; in a recipe; in a manifest
ok orch try --no-progress --name base --metrics-file curve.out --metrics-file '*.dat' -- python3 train.py
show base
has 'curve.out (csv)'
has 'steps.dat (json lines)'
has_not '(yaml)'
ok orch try --no-progress --name written --write w.recipe --metrics-file '*.dat' -- python3 train.py
ok cat w.recipe
has "metrics_files: ["
ok orch run w.recipe --no-progress
says '1 done before'
printf 'plugin: p\ncommand: [python3, train.py]\nmetrics_from: files\nmetrics_files: ["*.out"]\nmetrics: { loss: min }\n' >p.plugin
printf 'format: 1\nrecipe: p\nexperiments:\n  e: { plugin: ./p.plugin }\n' >p.recipe
ok orch run p.recipe --no-progress
show e
has 'curve.out (csv), 2 values'

# the line of a trial shows results before settings, whatever comes first
printf 'print("n_layer = 6\\nbatch_size = 12\\nzeta = 1")\nopen("metrics.csv", "w").write("step,train/loss\\n1,0.5\\n")\n' >order.py
ok orch try --no-progress -- python3 order.py
says 'train/loss 0.5000, zeta 1, '

# where values go that orch does not read
for module in mlflow comet_ml wandb; do
    mkdir -p lib
    printf 'class C:\n    pass\n' >lib/$module.py
done
printf 'import mlflow\nprint("loss", 1)\n' >remote.py
ok env PYTHONPATH=lib MLFLOW_TRACKING_URI=http://localhost:5000 orch try --no-progress --name uri -- python3 remote.py
show uri
has 'not logged     mlflow: its values are on a server only; without MLFLOW_TRACKING_URI'
ok env PYTHONPATH=lib orch try --no-progress --name local -- python3 remote.py
show local
has_not 'not logged'
printf 'import os\n\n    \ntry:\n    import comet_ml\nexcept ImportError:\n    pass\nimport wandb as w\ndict(mode="disabled")\n# import neptune\n' >other.py
ok env PYTHONPATH=lib orch try --no-progress --name other -- python3 other.py
show other
has "comet_ml: its values are on Comet's server only; print the values"
has 'wandb: it is switched off'
has_not neptune

# a logger's folder outside of what is watched
cat >far.sh <<'S'
python3 "$SOURCE/tests/loggers/place.py" "$SOURCE/tests/loggers/files/trackio-0.43.sql" "$XDG_CACHE_HOME/huggingface/trackio"
S
ok env SOURCE="$SOURCE" XDG_CACHE_HOME="$SCRATCH/far" orch try --no-progress --name far -- sh far.sh
show far
has "far/huggingface/trackio/trackio-0.43.db (trackio), 32 values"
has_not 'written  '
