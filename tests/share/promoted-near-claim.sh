# A trial that goes on after it was stopped is claimed again in the folder of a store of several hosts while the remote cannot
# be reached: its result is not sent yet, and the claim of its first attempt has ended.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
export ORCH_SLOTS=off ORCH_SHARDS=1 ORCH_CLAIM_S=60 ORCH_SHARD_HOST=alpha
cat >train.py <<'P'
import os, pathlib, sys, time
home = pathlib.Path(os.environ['HOME'])
point = home / f'point-{sys.argv[1]}'
is_again = point.exists()
if not is_again:
    point.write_text(str(1 + len(list(home.glob('point-*')))))
n = int(point.read_text())
curve = {1: [5] * 4, 2: [6, 1, 1, 1], 3: [9] * 4, 4: [10] * 4}[n]
for epoch, loss in enumerate(curve, 1):
    print(f'epoch {epoch} loss {loss}', flush=True)
    if is_again and epoch == 2:
        (home / 'again').touch()
        while not (home / 'go').exists():
            time.sleep(0.05)
    time.sleep(20 if n > 1 and not is_again else 0.1) # until it is stopped
P
cat >t.plugin <<Y
plugin: t
command: [python3, $PWD/train.py, '\${lr}']
metrics_from: lines
parameters: { lr: { type: real, default: 0.3 } }
metrics: { loss: { better: min, step: epoch } }
Y
cat >t.recipe <<R
format: 1
recipe: t
experiments:
  e:
    plugin: ./t.plugin
    search: { lr: "uniform(0, 1)" }
    objective: { metric: min loss, trials: 4, sampler: sobol, stop: "asha(min=1, factor=2)" }
R
claims() { # those that are held: the newest version of one that has ended is empty
    ls -v .orch/results.db.d/claims/*.json | awk -F. '{ newest[$(NF - 2)] = $0 } END { for (name in newest) print newest[name] }' |
        while read -r file; do
            [ ! -s "$file" ] || echo "$file"
        done | wc -l
}
git remote add origin "$SCRATCH/gone.git"
orch run t.recipe --share -j 1 >log 2>&1 &
await -e "$HOME/again" log
same "$(claims)" 1 'claims while it goes on'
touch "$HOME/go"
wait
grep -q '2 ok, 2 pruned, 1 promoted' log || _fail "$(cat log)"
same "$(claims)" 0 'claims after the end'
