# What simcluster, allreduce and asyncsgd say has no effect has none: trials that differ in it alone are one, and runs with
# other values of it, made in stores of their own, have the same results. 'orch plugin check' shows these parameters.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
for plugin in simcluster allreduce; do
    orch plugin show "$plugin" >/dev/null 2>&1 || skip "plugin '$plugin' is not built here"
done
cat >n.recipe <<'R'
format: 1
recipe: n
experiments:
  alone: { plugin: simcluster, with: { workers: 1, net: lenet5 }, sweep: { scaling: [strong, weak], algorithm: [ring, linear], workers_per_host: [1, 2] } }
  pair: { plugin: simcluster, with: { workers: 2, net: lenet5 }, sweep: { scaling: [strong, weak], algorithm: [ring, linear] } }
  bytes: { plugin: simcluster, with: { bytes: 1MiB }, sweep: { net: [lenet5, resnet20], batch: [64, 128] } }
  sums: { plugin: allreduce, with: { algorithm: ring }, sweep: { workers_per_node: [0, 1] } }
  levels: { plugin: allreduce, with: { algorithm: hierarchical }, sweep: { workers_per_node: [0, 1] } }
R
ok orch plan n.recipe --json
python3 - "$SCRATCH/out" <<'P' || _fail 'trials that are one'
import collections, json, sys
trials = collections.defaultdict(set)
for trial in json.load(open(sys.argv[1]))["trials"]:
    trials[trial["experiment"]].add(trial["fingerprint"])
assert {name: len(keys) for name, keys in trials.items()} == {"alone": 1, "pair": 4, "bytes": 1, "sums": 1, "levels": 2}, trials
P
ok orch plugin check simcluster -s workers=1
has 'without effect: scaling, algorithm, workers_per_host, workers_per_node'
ok orch plugin check allreduce
has 'without effect: workers_per_node'
# the results of a training or an all-reduce with these settings, run in a store of its own: results NAME SETTING...
command -v smpirun >/dev/null || skip 'SimGrid is not installed'
cp "$SOURCE/recipes/platforms/two-p2.16xlarge-10gbit.xml" .
printf 'format: 1\nrecipe: s\nexperiments:\n  s: { plugin: simcluster, with: { net: lenet5, steps: 2, price: 1 } }\n' >s.recipe
results() {
    local name=$1
    shift
    ok orch run s.recipe --db "$name.db" -q "${@/#/-s}"
    ok orch export --db "$name.db" --format json
    python3 - "$SCRATCH/out" >"$name.results" <<'P'
import json, sys
(run,) = json.load(open(sys.argv[1]))
print(json.dumps({k: v for k, v in run.items() if k.startswith(("result.", "value"))}, sort_keys=True))
P
    grep -q result.step_time "$name.results" || _fail "$name has no results"
}
equal() { cmp "$1.results" "$2.results" || _fail "$1 and $2 differ: $(<"$1.results") $(<"$2.results")"; }
results one workers=1
results one_weak workers=1 scaling=weak
results one_linear workers=1 algorithm=linear
results one_levels workers=1 algorithm=hierarchical workers_per_host=2 workers_per_node=1
for other in one_weak one_linear one_levels; do
    equal one $other
done
results bytes bytes=1MiB
results bytes_net bytes=1MiB net=resnet20 input=3x32x32 classes=5 gpu=V100 precision=fp16 step_time=1s scaling=weak batch=64 images=100 epochs=3 price=2 gradient_bytes=2 first_bucket_bytes=1KiB bucket_bytes=1KiB
equal bytes bytes_net
results platform platform=two-p2.16xlarge-10gbit.xml
results platform_link platform=two-p2.16xlarge-10gbit.xml bandwidth=100 latency=1
equal platform platform_link
# where they have one, the same comparison finds it
results two workers=2
results two_weak workers=2 scaling=weak
! cmp -s two.results two_weak.results || _fail 'the comparison cannot fail'
