# Limits judge a trial of a search by the values that were chosen for it.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
cat >wait.py <<'P'
import json, os, time
seconds = json.loads(os.environ['ORCH_PARAMS'])['seconds']
time.sleep(seconds)
print(f'loss={seconds}')
P
cat >wait.plugin <<'P'
plugin: wait
version: 1.0.0
about: waits
metrics_from: lines
command: [python3, wait.py]
parameters:
  seconds: { type: real, min: 0, default: 0 }
metrics:
  loss: { better: min }
P
cat >s.recipe <<'R'
format: 1
recipe: s
experiments:
  tune:
    plugin: wait
    search:
      seconds: [0.01, 2]
    objective: { metric: min loss, trials: 2 }
R
git add .
git commit -qm wait
ok orch run s.recipe
# a dollar a second: the longer trial, whose time is known, is not started
fails 6 orch run s.recipe --force --price 3600 --budget 1
says '1 ok'
says '1 not run'
ok orch ls --json --where 'seconds = 0.01'
same "$(json runs.#)" 2
ok orch ls --json --where 'seconds = 2'
same "$(json runs.#)" 1
