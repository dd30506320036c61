#!/bin/bash
# A store of a development version, whose columns have other names, is brought up to date by the first command that
# opens it: by one of several at once, with one backup; after a kill at any call of the system by the next one; and not
# at all where the store cannot be written, which is said.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
. "$(dirname "$0")/../cli/kill_calls.sh"
old() { # the folder of a fresh copy
    rm -rf "$1"
    mkdir -p "$1"
    cp "$SOURCE/tests/data/store-v1-before-release.db" "$1/results.db"
    chmod u+w "$1/results.db"
}
backups() { find "$1" -name '*.backup' | wc -l; }
whole() { # FOLDER WHAT
    ok orch db check --db "$1/results.db"
    ok orch ls --all --db "$1/results.db" --json
    same "$(json runs.#)" 2 "$2: runs"
}
# ---- several at once
old crowd
for i in 1 2 3 4 5 6; do
    orch ls --all --db crowd/results.db --json >"crowd-$i.out" 2>"crowd-$i.err" &
done
wait
for i in 1 2 3 4 5 6; do
    out=$(<"crowd-$i.out") err=$(<"crowd-$i.err")
    same "$(json runs.#)" 2 "command $i of six at once"
done
same "$(backups crowd)" 1 'backups of six commands at once'
whole crowd 'after six at once'
# ---- killed at each call: the store is the old one or the new one, and the next command goes on
n=1 hits=0
while :; do
    old killed
    killed_at "$n" orch orch ls --all --db killed/results.db --json >/dev/null 2>&1
    [ -e "$SCRATCH/hit" ] || break
    hits=$((hits + 1))
    ok orch ls --all --db killed/results.db --json
    same "$(json runs.#)" 2 "runs after a kill at call $n ($(cat "$SCRATCH/hit"))"
    [ "$(backups killed)" -le 2 ] || _fail "backups after a kill at call $n: $(ls killed)"
    n=$((n + 1))
done
whole killed 'after the last kill'
[ "$hits" -gt 20 ] || _fail "only $hits calls could be killed"
# ---- a folder and a file that cannot be written
old shut
chmod a-w shut/results.db shut
if [ ! -w shut ]; then
    fails 3 orch ls --db shut/results.db
    says 'it must be brought up to date first'
    says 'hint: copy the store to a folder that you may write to'
    chmod u+w shut shut/results.db
    same "$(backups shut)" 0 'backups in a folder that is shut'
    cmp -s "$SOURCE/tests/data/store-v1-before-release.db" shut/results.db || _fail 'the file has changed'
    whole shut 'once it may be written'
fi
# ---- no space for the backup, or for the change: nothing is left of it
for blocks in 8 64 200; do
    old full
    (
        trap '' XFSZ
        ulimit -f "$blocks"
        orch ls --db full/results.db >full.out 2>full.err
    ) || {
        err=$(<full.err)
        says full/results.db
        says hint
        same "$(backups full)" 0 "backups with $blocks blocks"
    }
    whole full "after $blocks blocks"
done
# ---- repaired: trials under way and conflicts keep their device, whether a row or a folder has their record
old torn
ok orch db repair --db torn/results.db # makes the folder of trials
rm torn/results.db.repaired*
python3 - torn <<'P'
import json, os, sqlite3, sys
record = json.dumps({"experiment": "e", "where_key": "V100"}, separators=(",", ":"))
with sqlite3.connect(sys.argv[1] + "/results.db") as d:
    d.execute("INSERT INTO active(key, fingerprint, where_key, trial_dir, record, boot_id, pid, pid_start, started)"
              " VALUES('01890a5d-ac96-774b-bcce-b302099a8101', 'f', 'V100', '/gone', ?, 'gone', 1, 1, 1)", (record,))
    d.execute("INSERT INTO conflict VALUES('01890a5d-ac96-774b-bcce-b302099a8102', ?, 'o', ?, 1)", ("a" * 64, record))
folder = sys.argv[1] + "/results.db.d/trials/01890a5d-ac96-774b-bcce-b302099a8103"
os.makedirs(folder)
with open(folder + "/record.json", "w") as f:
    f.write(record)
P
ok orch db repair --db torn/results.db --json
same "$(json runs)/$(json trials)/$(json conflicts)/$(json lost.#)" 2/2/1/0 'what was repaired'
python3 - torn/results.db.repaired >torn.said <<'P'
import sqlite3, sys
d = sqlite3.connect(sys.argv[1])
for key, device, record in d.execute("SELECT key, device_key, record FROM active ORDER BY key"):
    print(key[-3:], device, record)
print(*d.execute("SELECT record FROM conflict").fetchone())
P
out=$(<torn.said)
has '101 V100 {"experiment":"e","device_key":"V100"}'
has '103 None {"experiment":"e","device_key":"V100"}'
has_not where_key
same "$(grep -c device_key torn.said)" 3 'records with a device'
# ---- forecasts by a model whose name was another: counted under its present one
python3 - torn/results.db.repaired <<'P'
import sqlite3, sys
with sqlite3.connect(sys.argv[1]) as d:
    run, = d.execute("SELECT key FROM run WHERE state = 'ok'").fetchone()
    for model, made in ("white box", 1), ("white box, renewed", 2), ("analytical model", 3):
        d.execute("INSERT INTO forecast(fingerprint, machine, model, made, p5, p50, p95, tier, run)"
                  " VALUES('f', 'm', ?, ?, 1, 2, 3, 'transferred', ?)", (model, made, run))
P
ok orch predictor score --db torn/results.db.repaired --json
has '"analytical model"'
has_not 'white box'
