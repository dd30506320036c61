# A search on Slurm: each command submits as many trials as -j says, chosen from the results that were collected, until all are used
# up; trials that have not ended count as pending. With stand-ins for Slurm's programs.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
. "$(dirname "$0")/slurm.sh"
cat >model.py <<'P'
import json, math, os
p = json.loads(os.environ['ORCH_PARAMS'])
print(f"loss={(math.log10(p['lr']) + 2) ** 2}")
P
cat >model.plugin <<'P'
plugin: model
version: 1.0.0
about: a loss in closed form
metrics_from: lines
command: [python3, model.py]
parameters:
  lr: { type: real, min: 0, default: 0.1 }
metrics:
  loss: { better: min }
P
recipe() { # recipe OBJECTIVE
    cat >s.recipe <<R
format: 1
recipe: s
slurm: { partition: p }
experiments:
  tune:
    plugin: model
    search: { lr: "loguniform(1e-4, 1)" }
    objective: { metric: min loss, $1 }
R
}
recipe 'trials: 10'
submit() { ok orch run s.recipe --executor slurm -j "$@"; }
distinct() { orch ls --json | python3 -c 'import json, sys
print(len({r["setting"]["lr"] for r in json.load(sys.stdin)["runs"]}))'; }

submit 4
says 'submitted 4 trials as Slurm job 101'
says '6 trials are left of a search'
# nothing has ended: the same command has nothing to choose, and knows which points it waits for
submit 4
says 'nothing to submit: 0 done, 4 already submitted'
same "$(calls sbatch)" 1
# part of a batch has ended: as many are chosen again, and none of the open ones
play 101 0 1
minute
submit 4
says 'submitted 2 trials as Slurm job 102'
says '4 trials are left of a search'
# killed before it has submitted anything: the next command goes on
minute
play 101 2 3
play 102
minute
timeout -s KILL 0.05 orch run s.recipe --executor slurm -j 4 >/dev/null 2>&1
while pgrep -f "$SCRATCH.*sbatch" >/dev/null; do sleep 0.05; done # a submission that it had begun
for job in 103 104; do [ ! -d "$CLUSTER/jobs/$job" ] || play $job; done
minute
submit 4 --json
# a killed submission of which Slurm knows nothing may still arrive there: it is forgotten after two minutes
python3 -c "import sqlite3
with sqlite3.connect('.orch/results.db') as db: db.execute('update active set started = started - 3600 * 1000000000')"
minute
submit 4 --json
minute
for job in "$CLUSTER"/jobs/*; do
    job=${job##*/}
    [ -s "$CLUSTER/jobs/$job/changes" ] || play "$job"
done
minute
ok orch collect
submit 4
says 'nothing to submit: 10 done'
says_not 'of a search'
same "$(distinct)" 10 'distinct points'
ok orch ls --json --where 'state = ok'
same "$(json runs.#)" 10
# a larger number continues; a search that is good enough ends
recipe 'trials: 14, until: 100'
submit 4
says '4 trials are not needed: the search has ended'
says_not 'stops trials early'
recipe 'trials: 14, stop: median'
submit 4 --json
says "experiment 'tune' stops trials early ('stop'): repeat this command to judge the running trials"
same "$(json submitted) $(json done_before) $(json unchosen) $(json not_needed)" '4 10 0 0'
ok orch db check
