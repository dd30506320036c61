#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Numbers outside of the valid range are refused wherever they enter (merge, journal, import), with name, value and run
# key; all other runs are accepted.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
printf '%s\n' 'plugin: job' 'version: 1.0.0' 'command: [sh, -c, "echo step=1 accuracy=0.5; echo hello >out.txt"]' 'metrics_from: lines' \
    'metrics: { accuracy: { step: epoch } }' 'artifacts: { out: out.txt }' >job.plugin
printf '%s\n' 'format: 1' 'recipe: nap' 'experiments: { one: { plugin: ./job.plugin } }' >nap.recipe
git add -A
git commit -qm one
ok orch run nap.recipe -q

# ---- another store
names=(no_wall huge_wall negative_wall endless_wall beyond_status tiny_wall last_times numbers facts_huge facts_negative machine_numbers
    steps values artifact_beyond forecasts forecast_none) # in the order of forge_rows.py
cp -r .orch ../odd
python3 "$SOURCE/tests/store/forge_rows.py" ../odd/results.db "${names[@]}" >/dev/null || _fail 'no forged store'
keys=$(python3 -c 'import sqlite3; print(*(key for key, in sqlite3.connect("../odd/results.db").execute("SELECT key FROM run ORDER BY id")))')
set -- $keys
shift
fails 7 orch db merge ../odd/results.db
declare -A want=(
    [huge_wall]='its wall_ms is 1.7e+308, beyond 0 to 3200000000000 ms' [negative_wall]='its wall_ms is -1, beyond 0 to'
    [endless_wall]='its wall_ms is inf, beyond 0 to' [beyond_status]='its exit_code is 99999, beyond -1 to 255'
    [last_times]='its started_ns is 9.223372036854776e+18, beyond 0 to 7.2581184e+18 ns since 1970'
    [numbers]='its repeat is 2147483647, beyond 0 to 1000000000' [artifact_beyond]='its bytes is 9.223372036854776e+18, beyond 0 to 1.152921504606847e+18 bytes'
    [facts_huge]='is 1.7e+308, beyond' [facts_negative]='is -9.223372036854776e+18, beyond 0' [machine_numbers]='is -1e+300, beyond 0'
    [steps]="metric 'accuracy': its step is -9.223372036854776e+18, beyond 0 to 9e+15"
    [values]="metric 'accuracy': its t_ms is 1e+308, beyond -3200000000000 to 3200000000000 ms")
says() { case $out$err in *"$1"*) ;; *) _fail "the receipt lacks: $1" ;; esac }
taken=0
for name in "${names[@]}"; do
    _key=$1
    shift
    if [ "${want[$name]-}" ]; then
        says "run $_key: "
        case $(printf '%s\n' "$out" "$err" | grep "run $_key: ") in *"${want[$name]}"*) ;; *) _fail "$name is not refused by: ${want[$name]}" ;; esac
    else
        taken=$((taken + 1))
    fi
done
says 'its p5 is 9e+99, beyond 0 to 3200000000 s'
says 'its made_ns is 9.223372036854776e+18, beyond'
ok orch ls -n 0 --json
same "$(json runs.#)" $((1 + taken)) 'the runs of the store'
ok orch db check

# ---- a journal
key=01890000-0000-7000-8000-000000000001
trial() { # trial END-NUMBERS POINT
    python3 - "$key" <<'P'
import os, sqlite3, sys
db = sqlite3.connect(".orch/results.db")
db.execute("DELETE FROM active")
boot = open("/proc/sys/kernel/random/boot_id").read().strip()
db.execute("INSERT INTO active(key, fingerprint, device_key, record, boot_id, pid, pid_start, started)"
           " VALUES(?, 'f', 'w', ?, ?, 4000000, 1, 1)", (sys.argv[1], '{"experiment":"e","plugin":"p"}', boot))
db.commit()
P
    mkdir -p .orch/results.db.d/trials/$key
    cat >.orch/results.db.d/trials/$key/journal <<J
{"event":"start","t_ns":1,"key":"$key","host":null,"child":null}
{"event":"metrics","points":[["accuracy",1,1.5,0.5],["accuracy",$2,0.5]]}
{"event":"end","verdict":"ok","reason":null,$1,"stderr_tail":""}
J
    ok orch run nap.recipe
    ok orch show $key --json
    same "$(json state)" "$3"
    key=${key%?}$((${key: -1} + 1))
}
sound='"exit_code":0,"signal":0,"started_ns":1,"ended_ns":2,"wall_ms":1.0,"facts":{}'
trial "$sound" '2,2.5' ok
trial "${sound/1.0/1e300}" '2,2.5' lost
has "its journal's wall_ms is 1e+300, beyond"
trial "${sound/1.0/-1}" '2,2.5' lost
has "its journal's wall_ms is -1, beyond"
trial "${sound/1.0/\"nan\"}" '2,2.5' lost
has "its journal's wall_ms is nan, beyond"
trial "${sound/\"ended_ns\":2/\"ended_ns\":9223372036854775807}" '2,2.5' lost
has "its journal's ended_ns is 9.223372036854776e+18, beyond"
trial "${sound/\{\}/\{\"max_rss_bytes\":-5\}}" '2,2.5' lost
has "its journal's max_rss_bytes is -5, beyond"
trial "$sound" '-3,2.5' lost
has "its journal's metric 'accuracy': its step is -3, beyond"
trial "$sound" '3,1e300' lost
has "its journal's metric 'accuracy': its t_ms is 1e+300, beyond"
ok orch db check

# ---- runs of another tracker
mkdir -p mlruns/0/{good,late,early}/metrics
echo 'name: e' >mlruns/0/meta.yaml
for run in good late early; do
    printf '%s\n' "run_id: $run" "run_name: $run" 'status: 3' 'lifecycle_stage: active' 'start_time: 1700000000123' 'end_time: 1700000001000' >mlruns/0/$run/meta.yaml
    echo '1700000000500 0.5 1' >mlruns/0/$run/metrics/loss
done
sed -i 's/^end_time.*/end_time: 1e300/' mlruns/0/late/meta.yaml
echo '-5 0.5 1' >mlruns/0/early/metrics/loss
fails 7 orch import --runs mlruns --json
same "$(python3 -c 'import json, sys; print(*sorted(r["id"] + ":" + r["what"] for r in json.load(sys.stdin)["runs"]))' <<<"$out")" 'early:refused good:added late:refused'
case $err in *"run 'late' is not imported: its ended_ns is 1e+306, beyond"*"run 'early' is not imported: its time_ns is -5000000, beyond"*) ;;
*"run 'early' is not imported: its time_ns is -5000000, beyond"*"run 'late' is not imported: its ended_ns is 1e+306, beyond"*) ;; *) _fail 'the refused runs are not named' ;; esac
ok orch ls --where 'plugin = import:mlflow' --json
same "$(json runs.#) $(json runs.0.started)" "1 2023-11-14T22:13:20.123000000Z"
ok orch db check
