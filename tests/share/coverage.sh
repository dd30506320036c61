# 'orch coverage': who has run each cell, what is claimed, what is missing, and its cost.
# test: slow timeout=1200
. "$(dirname "$0")/../cli/lib.sh"
cd "$SCRATCH"
git init -q --bare hub.git
for who in ada bob; do git clone -q hub.git $who 2>/dev/null; done
cat >ada/both.recipe <<'R'
format: 1
recipe: both
experiments:
  nap:
    plugin: sleep
    sweep: { seconds: [0.1, 0.2, 3] }
    repeat: 2
  net:
    plugin: ./fake.plugin
    sweep: { net: [resnet20, resnet50], batch: [16, 32] }
    reuse: any
R
cat >ada/fake.plugin <<'Y'
plugin: fake
version: 1.0.0
about: a training
command: [sh, "-c", "echo x 1"]
metrics_from: lines
parameters:
  net: {type: string, default: resnet20, help: network}
  batch: {type: int, default: 16, help: images}
metrics:
  x: {help: nothing}
cost: {network: "${net}", precision: fp32, framework: "none 1", input: 3x32x32, classes: "10", images: "50000", batch: "${batch}", workers: "1", epochs: "10", training: "true"}
Y
cp ada/both.recipe ada/fake.plugin bob
# nobody has done anything: no store is made by looking
cd ada
export ORCH_USER=ada
ok orch coverage both.recipe --offline
has '10 trials: 10 missing'
[ -e .orch/results.db ] && _fail 'looking made a store'
ok orch run both.recipe nap -x nap.seconds=0.1,0.2 --share
ok orch run both.recipe net -x net.net=resnet20 --share
# bob has one more, runs another now, and has one of ada's on a machine of his own
cd ../bob
export ORCH_USER=bob
ok orch run both.recipe net -x net.net=resnet50 -x net.batch=16 --share
(exec orch run both.recipe nap -x nap.seconds=3 --share >/dev/null 2>&1) &
bob=$!
for _ in $(seq 100); do
    [ -n "$(git -C ../hub.git for-each-ref refs/orch/claims)" ] && break
    sleep 0.1
done
cd ../ada
export ORCH_USER=ada
ok orch pull
ok orch coverage both.recipe
has 'ada 2'
has 'claimed by bob until '
has '10 trials: 7 done, 1 claimed, 2 missing'
ok orch coverage both.recipe --json
same "$(json totals.done) $(json totals.elsewhere) $(json totals.claimed) $(json totals.missing) $(json totals.trials)" '7 0 1 2 10'
same "$(json trials.4.state) $(json trials.4.claim.who)" 'claimed bob'
same "$(json trials.5.state)" missing
same "$(json trials.0.runs.0.who)" ada
same "$(json trials.8.runs.0.who)" bob
same "$(json trials.9.state)" missing
same "$(json claims_known)" true
same "$(json gpus)" null
# swept parameters are rows and columns
same "$(json experiments.1.title)" net
ok orch coverage both.recipe net
has "net       16   32"
has '4 trials: 3 done, 1 missing'
# offline nothing is known of claims; another remote must be there
ok orch coverage both.recipe --offline --json
same "$(json totals.claimed) $(json totals.missing) $(json claims_known)" '0 3 false'
fails 3 orch coverage both.recipe --remote nowhere
fails 2 orch coverage both.recipe --remote origin --offline
kill -INT $bob
wait $bob
# what is missing, on a GPU: by what the plugin declares
ok orch coverage both.recipe net --gpu V100 --price 3 --json
same "$(json gpus.0.gpu) $(json gpus.0.trials) $(json gpus.0.unknown)" 'V100-SXM2-16GB 1 0'
python3 -c 'import sys; s, usd, low, high = map(float, sys.argv[1:]); sys.exit(not (low < s < high and abs(usd - 3 * s / 3600) < 1e-9 * usd))' \
    "$(json gpus.0.total_s)" "$(json gpus.0.cost_usd)" "$(json gpus.0.low_s)" "$(json gpus.0.high_s)" || _fail 'cost is not time x price'
ok orch coverage both.recipe --gpu all
has 'cheapest: '
has '2 more trials declare no cost and have no forecast'
has V100
has K80
ok orch coverage both.recipe --gpu all --json
python3 -c '
import json, sys
gpus = json.load(sys.stdin)["gpus"]
times = [g["total_s"] for g in gpus]
assert times == sorted(times) and len({g["gpu"] for g in gpus}) > 10
priced = [g for g in gpus if g["cost_usd"] is not None]
for g in priced: # in the Pareto set is what nothing faster is as cheap as
    faster = [o["cost_usd"] for o in priced if o["total_s"] < g["total_s"]]
    assert not g["pareto"] or not faster or g["cost_usd"] < min(faster), g
assert any(g["pareto"] for g in gpus)' <<<"$out" || _fail 'the ranking'
fails 2 orch coverage both.recipe --gpu nosuch
says nosuch
fails 2 orch coverage both.recipe --price x
# without a remote, and without a repository: said once, the rest is printed
git remote remove origin
ok orch coverage both.recipe
says 'it is not known which trials others are running'
same "$(grep -c 'it is not known which trials others are running' <<<"$err")" 1
has '7 done'
