# A trial of a Slurm job keeps the forecasts from which --time and --mem were derived, and they are compared with
# Slurm's accounts: elapsed time and MaxRSS. Without accounts nothing is compared. With stand-ins for Slurm's programs.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
. "$(dirname "$0")/slurm.sh"
cat >unit.plugin <<'P'
plugin: unit
version: 1.0.0
about: takes a fifth of a second
licence: MIT
command: [sh, -c, "sleep 0.2; echo value ${n}"]
metrics_from: lines
parameters:
  n: {type: int, default: 1, help: a number}
metrics:
  value: {help: the number}
P
cat >r.recipe <<'R'
format: 1
recipe: r
slurm: { partition: p }
experiments:
  first: { plugin: ./unit.plugin, sweep: { n: [1, 2, 3, 4, 5, 6] } }
R
seconds() { # JOB_INDEX SECONDS BYTES: what sacct says
    printf '%s|COMPLETED|0:0|%s||n1\n%s.batch|COMPLETED|0:0|%s|%s|n1\n' "$1" "$2" "$1" "$2" "$3" >"$CLUSTER/accounts/$1"
}
ok orch run r.recipe --executor slurm --json
a=$(json arrays.0.job)
same "$(json arrays.0.time_from)/$(json arrays.0.memory_from)" 'default of the partition/default of the partition'
play "$a"
for i in 0 1 2 3 4 5; do seconds "${a}_$i" 1 1024K; done
minute
ok orch collect
# ---- no forecast was made of these: there is nothing to compare
ok orch predictor score --slurm --json
same "$(json scores)" '[]'
ok orch predictor score --slurm
says 'no Slurm job that ended well has both a forecast and accounting data'
# ---- the second time there are forecasts of time and memory
ok orch run r.recipe --force --executor slurm --json
b=$(json arrays.0.job)
same "$(json arrays.0.time_from)/$(json arrays.0.memory_from)" '95 % forecast/1.25 times the 95 % quantile of earlier runs'
play "$b"
for i in 0 1 2; do seconds "${b}_$i" 1 1K; done # as forecast
seconds "${b}_3" 500 1K                         # longer than --time
seconds "${b}_4" 1 99G                          # more memory than --mem
seconds "${b}_5" 1 ''                           # no memory in the accounts
minute
ok orch collect
keys() {
    ok orch ls -n 0 --json
    python3 -c 'import json, sys; print(*[r["key"] for r in json.loads(sys.argv[1])["runs"]][:6])' "$out"
}
graded() { # INDEX: of the trial of the second job
    for k in $(keys); do
        ok orch show "$k" --json
        [ "$(json facts.slurm.job)_$(json facts.slurm.index)" != "${b}_$1" ] || {
            echo "$(json facts.slurm.graded.time_within)/$(json facts.slurm.graded.memory_within)"
            return
        }
    done
}
same "$(graded 0)" true/true
same "$(graded 3)" false/true
same "$(graded 4)" true/false
same "$(graded 5)" true/
ok orch predictor score --slurm --json
same "$(json scores.0.quantity) $(json scores.0.jobs)" 'time 6'
same "$(json scores.1.quantity) $(json scores.1.jobs)" 'memory 5'
python3 - "$out" <<'P' || _fail 'coverage is wrong'
import json, sys
time, memory = json.loads(sys.argv[1])["scores"]
assert abs(time["within"] - 5 / 6) < 1e-9 and abs(time["within_request"] - 5 / 6) < 1e-9, time
assert abs(memory["within"] - 4 / 5) < 1e-9 and abs(memory["within_request"] - 4 / 5) < 1e-9, memory
P
# ---- without accounts nothing is made up
echo off >"$CLUSTER/accounting"
rm "$CLUSTER/accounts"/*
ok orch run r.recipe --force --executor slurm --json
c=$(json arrays.0.job)
play "$c"
minute
ok orch collect --json
same "$(json runs.0.state)" ok
ok orch show "$(json runs.0.key)" --json
same "$(json facts.slurm.graded)$(json facts.slurm.elapsed_s)" '' 'no account'
ok orch predictor score --slurm --json
same "$(json scores.0.jobs)" 6
