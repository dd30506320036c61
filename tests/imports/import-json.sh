#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Results of benchmark programs, Sacred's runs, and what orch.export_runs writes of Aim, ClearML and Neptune become runs: every
# sample and point is that of the file, once. A file that is cut, or of another kind, says so.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
files=$SOURCE/tests/imports/files
export PYTHONPATH=$SOURCE/share/python PYTHONDONTWRITEBYTECODE=1 TZ=UTC
ok orch import --runs "$files" --dry-run
[ ! -e .orch ] || _fail 'a dry run made a store'
for did in added known; do
    ok orch import --runs "$files" --json
    [ "$(grep -c "\"what\": \"$did\"" <<<"$out")" = 18 ] || _fail "not 18 runs are $did"
    ok orch import --runs "$files/aim.jsonl" --json
    [ "$(grep -c "\"what\": \"$did\"" <<<"$out")" = 2 ] || _fail "not 2 runs of Aim are $did"
    ok python3 -m orch.export_runs clearml "$files/clearml.zip"
    printf '%s\n' "$out" >clearml.jsonl
    ok orch import --runs clearml.jsonl
    has "$did  clearml"
done
ok python3 "$SOURCE/tests/imports/points.py" "$files"
has 'series are equal'
# parameters, results, states and times
where() { ok orch ls -n 0 --where "$1" --json; }
shown() {
    where "$1"
    key=$(json runs.0.key)
    ok orch show "$key"
}
shown 'plugin = import:hyperfine and n = 2'
has 'mean'
has 'benchmark      sleep 0.002'
shown 'plugin = import:asv and kind = tuple and n = 10'
has 'result'
where 'plugin = import:asv and state = failed'
has time_broken
where 'plugin = import:asv'
[ "$(grep -c '"key"' <<<"$out")" = 6 ] || _fail 'the combination that does not apply is there'
where 'plugin = import:google-benchmark and state = failed'
has bad
shown 'plugin = import:pytest-benchmark and n = 100'
has 'iterations'
shown 'plugin = import:sacred and optimizer.momentum = 0.9 and state = failed and lr = 0.2'
has 'best'
ok orch show "$key" --json
has '"comment": "a comment"'
where 'plugin = import:pyperf and started > 2026-11-28'
has '"name": "max"'
shown 'plugin = import:clearml and lr = 0.1 and optimizer.name = sgd'
has 'accuracy       0.7500'
has 'loss/train       3'
where 'plugin = import:aim and lr = 0.2 and optimizer.name = sgd'
has '"paper"'
# a folder with trackio's database and a link to it; SwanLab's folder, which has W&B's form
mkdir -p tk logs/run-1-ab/files
python3 "$SOURCE/tests/loggers/place.py" "$SOURCE/tests/loggers/files/trackio-0.43.sql" tk
ln -s trackio-0.43.db tk/again.db
sqlite3 tk/others.db 'CREATE TABLE a(b)' 2>/dev/null || :
cp "$SOURCE/tests/loggers/files/swanlab-0.10.swanlab" logs/run-1-ab/run-ab.swanlab
echo 'lr: { value: 1 }' >logs/run-1-ab/files/config.yaml
for did in added known; do
    ok orch import --runs tk
    has "$did  trackio"
    ok orch import --runs logs
    has "$did  swanlab  run-1-ab"
    has_not wandb
done
# what is wrong is said, and what is whole is taken
head -c 300 "$files/hyperfine.json" >cut.json
fails 2 orch import --runs cut.json
says 'holds no runs that orch can read'
says 'orch help importing'
echo '{"a": 1}' >other.json
fails 2 orch import --runs other.json
head -c 900 "$files/aim.jsonl" >cut.jsonl
ok orch import --runs cut.jsonl
says "'cut.jsonl' was not read to its end: a line is cut off"
fails 1 python3 -m orch.export_runs clearml other.json
says "'other.json' is not what clearml writes"
fails 1 python3 -m orch.export_runs nothing other.json
says 'python3 -m orch.export_runs aim REPO'
fails 1 python3 -S -m orch.export_runs aim .
says 'hint: start it with the Python that has'
# the trackers' own packages, where they are
python=${ORCH_FRAMEWORKS_PYTHON:-python3}
if "$python" -c 'import pyarrow' 2>/dev/null; then
    ok "$python" -m orch.export_runs neptune "$files"
    printf '%s\n' "$out" >neptune.jsonl
    ok orch import --runs neptune.jsonl
    shown 'plugin = import:neptune and parameters/lr = 0.2 and state = failed'
    has 'eval/accuracy'
    has 'train/loss       3'
fi
if "$python" -c 'import aim' 2>/dev/null; then
    cat >aims.py <<'P'
from aim import Run
run = Run(repo="aims", experiment="digits", system_tracking_interval=None, log_system_params=False)
run["hparams"] = {"width": 7}
for i in range(4):
    run.track(1 / (i + 1), name="loss", step=10 * i, context={"subset": "train"})
run.close()
P
    ok env HOME="$PWD" "$python" aims.py
    ok env HOME="$PWD" "$(dirname "$python")/aim" storage --repo aims reindex -y
    ok env HOME="$PWD" "$python" -m orch.export_runs aim aims
    printf '%s\n' "$out" >aims.jsonl
    ok orch import --runs aims.jsonl
    shown 'plugin = import:aim and width = 7'
    has 'train/loss'
    has '0.2500'
fi
