#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The Python module: several runs at once that do not end each other, steps, the seed, and reading runs.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
export PYTHONPATH=$SOURCE/share/python
cat >threads.py <<'P'
import threading, time
from concurrent.futures import ThreadPoolExecutor
import orch
def train(lr, fails=False):
    run = orch.start(lr=lr, kind="thread")
    for e in range(4):
        time.sleep(0.02)
        run.log(loss=lr * 10 + e)
        if fails and e == 2: raise ValueError("cut")
    if lr != 3: run.end()
threads = [threading.Thread(target=train, args=(lr,)) for lr in (1, 2)]
for t in threads: t.start(); time.sleep(0.05)
for t in threads: t.join()
with ThreadPoolExecutor(2) as pool:
    futures = [pool.submit(train, 3), pool.submit(train, 4, True)]
P
cat >side.py <<'P'
import orch
a, b = orch.start(experiment="gen"), orch.start(experiment="disc")
for e in range(3): a.log(loss=e); b.log(loss=e)
for lr in (1, 2):  # a loop ends one run with the next
    run = orch.start(lr=lr, experiment="loop"); run.log(loss=lr)
assert run.series("loss") == [(0, 2.0)], run.series("loss")
P
cat >pool.py <<'P'
import multiprocessing, sys, orch
def train(lr):
    run = orch.start(lr=lr, experiment=sys.argv[1]); run.log(loss=lr)
    if lr == 3: raise ValueError("cut")
    return lr
if __name__ == "__main__":
    multiprocessing.set_start_method(sys.argv[2])
    parent = orch.start(experiment="parent") if len(sys.argv) > 3 else None
    with multiprocessing.Pool(2) as pool:
        for job in [pool.apply_async(train, (lr,)) for lr in (1, 2, 3)]:
            try: job.get(60)
            except ValueError: pass
P
cat >steps.py <<'P'
import orch
run = orch.start(seed=7, a=1, experiment="steps")
assert run.seed == 7
for i in range(4): run.log(loss=float(i), step=i * 0.25)
run.log({"val loss": 1, "val_loss": 2}, step=1)
P
git add -A
git commit -qm first
ok python3 threads.py
ok orch ls -n 0 --where "kind=thread and state=ok" --json
same "$(json runs.#)" 3
ok orch ls -n 0 --where "lr=4" --json
same "$(json runs.0.state)" failed
ok orch export --what points -m loss -w 'kind=thread and state=ok' --format csv
same "$(grep -c loss <<<"$out")" 12
ok python3 side.py
ok orch ls -n 0 --where "experiment=gen or experiment=disc or experiment=loop" --json
same "$(json runs.#)" 4
has_not '"failed"'
ok orch export --what points -m loss -w 'experiment=gen' --format csv
same "$(grep -c loss <<<"$out")" 3
for method in fork spawn; do
    ok python3 pool.py $method $method
    ok orch ls -n 0 --where "experiment=$method" --json
    same "$(json runs.#)" 3
    ok orch ls -n 0 --where "experiment=$method and lr=3" --json
    same "$(json runs.0.state)" failed
    ok python3 pool.py with_$method $method parent
    says 'its parent process records run'
    ok orch ls -n 0 --where "experiment=with_$method" --json
    same "$(json runs.#)" 0
done
ok python3 steps.py
says "the metric 'step'"
says "'val_loss_2'"
ok orch ls --where 'experiment=steps and seed=7'
has 'a=1'
has_not 'seed='
cat >read.py <<'P'
import math, orch
runs = orch.runs(where="experiment = steps")
assert len(runs) == 1 and runs[0].params == {"a": 1}, runs
run = runs[0]
assert run["a"] == 1 and run["state"] == "ok" and run.metrics["val_loss_2"] == 2
assert [v for _, v in run.series("loss")] == [0, 1, 2, 3], run.series("loss")
assert [v for _, v in run.series("step")] == [0, 0.25, 0.5, 0.75, 1], run.series("step")
best = orch.best("loss", where="kind = thread and state = ok", minimize=True)
assert best[0]["settings"]["lr"] == 1, best
try: orch.runs(where="no such (")
except orch.Error as error: assert "character" in str(error)
else: raise SystemExit("no error")
P
ok python3 read.py
cat >kept.py <<'P'
import orch
with orch.start(experiment="kept") as run:
    run.image("dots", [[0, 255], [128, 64]])
    run.image("colours", [[(1.0, 0, 0), (0.0, 0.5, 1)]])
    run.table("scores", [{"name": "a, b", "f1": 0.5}, {"name": "c", "f1": 1}])
    run.table("columns", {"x": [1, 2], "y": [3, 4]})
P
ok python3 kept.py
says_not warning
ok orch show @last --artifact scores.csv
same "$out" $'name,f1\r\n"a, b",0.5\r\nc,1\r'
orch show @last --artifact colours.png >c.png
same "$(head -c 4 c.png | tail -c 3)" PNG
