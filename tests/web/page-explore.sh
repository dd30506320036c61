# The page's exploration, walked in Chromium over a search with pruned and failed trials: parallel coordinates with
# logarithms and ranges, a scatter coloured by a metric, and the importance of the parameters with intervals.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
. "$(dirname "$0")/browser.sh"
. "$(dirname "$0")/store.sh"
cat >fit.py <<'P'
import math, random, sys, time
lr, width, opt, seed = float(sys.argv[1]), int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
random.seed(seed)
if width > 200: sys.exit("too wide")
distance = (math.log10(lr) + 2) ** 2 / 4
for step in range(1, 13):
    print(f"step {step}/12 val_loss {distance + math.exp(-step / 4) + .01 * random.random():.4f}", flush=True)
    time.sleep(.03)
P
git add -A
git commit -qm fit
orch try -q -y -x lr='loguniform(1e-4,1)' -x width='int(8,256)' -x opt='[sgd, adam]' --search 'min last val_loss' --trials 40 --sampler sobol \
    --stop 'vizier(warmup=3)' --keep-going --name find -- python3 fit.py {lr} {width} {opt} {seed} >"$SCRATCH/search" 2>&1
for state in pruned failed ok; do
    ok orch ls --state "$state" -e find -n 0 --json
    printf '%s %s\n' "$state" "$(printf '%s' "$out" | python3 -c 'import json, sys; print(len(json.load(sys.stdin)["runs"]))')" >>"$SCRATCH/states"
done
serve
export STATES=$SCRATCH/states
walk explore.py
unserve
