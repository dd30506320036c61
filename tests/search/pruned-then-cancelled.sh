# A trial that is being pruned and takes long to end can still be cancelled: its host is asked once more.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
# The second trial is pruned at its first value, and does not end by itself within its time of grace.
cat >train.py <<'P'
import os, pathlib, signal, sys, time
home = pathlib.Path(os.environ['HOME'])
n = 1 + len(list(home.glob('trial-*')))
(home / f'trial-{n}').touch()
if n == 2:
    signal.signal(signal.SIGTERM, lambda *_: (home / 'asked').touch())
print(f"step 1 loss {n}", flush=True)
if n == 2:
    for _ in range(600):
        time.sleep(0.1)
print(f"step 2 loss {n}", flush=True)
P
cat >t.plugin <<'Y'
plugin: t
command: [python3, train.py]
metrics_from: lines
parameters:
  lr: { type: real, default: 0.3 }
metrics:
  loss: { better: min, step: step }
Y
cat >t.recipe <<'R'
format: 1
recipe: t
experiments:
  e:
    plugin: ./t.plugin
    search: { lr: "uniform(0, 1)" }
    objective: { metric: min loss, trials: 2, stop: "asha(min=1, factor=2)" }
R
orch run t.recipe -j 1 >log 2>&1 &
run=$!
await -e "$HOME/asked" log
kill -INT "$run"
sleep 0.3
kill -INT "$run"
wait "$run"
ok orch ls --state pruned --json
same "$(json runs.#)" 1 "$(cat log)"
# it was killed when Ctrl-C was pressed twice, and not only after its time of grace
ok orch show "$(json runs.0.key)" --json
has 'trials are better'
has_not 'did not end within'
