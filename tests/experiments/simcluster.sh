# The plugin simcluster agrees with closed formulas: ring, recursive doubling, tree and Rabenseifner on a star of known
# links; also overlap, buckets, the computing time of 'orch predict', several steps, and a link that two nodes share.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
command -v smpirun >/dev/null || skip 'no smpirun on the PATH (libsimgrid-dev)'
[ -x "$BUILD/plugins/common/orch-smpi-worker" ] || skip 'built without SimGrid (libsimgrid-dev)'
cat >two.xml <<X
<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="all" routing="Floyd">
    <cluster id="a" prefix="a-" radical="0-3" suffix="" speed="1Gf" bw="10GBps" lat="5us" sharing_policy="SPLITDUPLEX" router_id="ra"/>
    <cluster id="b" prefix="b-" radical="0-3" suffix="" speed="1Gf" bw="10GBps" lat="5us" sharing_policy="SPLITDUPLEX" router_id="rb"/>
    <link id="slow" bandwidth="1GBps" latency="50us" sharing_policy="SPLITDUPLEX"/>
    <zoneRoute src="a" dst="b" gw_src="ra" gw_dst="rb"><link_ctn id="slow" direction="UP"/></zoneRoute>
  </zone>
</platform>
X
cat >s.recipe <<R
format: 1
recipe: s
experiments:
  law: { plugin: simcluster, with: { bytes: 64MB, bandwidth: 10, latency: 10 }, sweep: { workers: [2, 8], algorithm: [ring, recursive_doubling, reduce_broadcast, rabenseifner, linear] } }
  small: { plugin: simcluster, with: { bytes: 1KB, bandwidth: 10, latency: 10, workers: 8 }, sweep: { algorithm: [ring, recursive_doubling] } }
  net: { plugin: simcluster, with: { workers: 4, bandwidth: 2, latency: 10, gpu: K80, batch: 64, price: 0.9 }, sweep: { overlap: [true, false], steps: [1, 3] } }
  one: { plugin: simcluster, with: { workers: 1, gpu: K80, batch: 16 } }
  given: { plugin: simcluster, with: { workers: 2, step_time: 0.5, bandwidth: 1000, scaling: weak, batch: 16, epochs: 3, images: 1000 } }
  nodes: { plugin: simcluster, with: { platform: two.xml, bytes: 100MB, workers_per_node: 2 }, sweep: { workers: [2, 4], algorithm: [ring, hierarchical] } }
R
ok orch run s.recipe -q
ok orch export --format json
cp "$SCRATCH/out" runs.json
ok orch predict --gpu K80 --net resnet50 --batch 16 --model transferred --json
cp "$SCRATCH/out" predict.json
python3 - runs.json predict.json <<'P' || _fail 'simulated times'
import json, math, sys
runs = {}
for run in json.load(open(sys.argv[1])):
    runs.setdefault(run["experiment"], []).append({k.split(".", 1)[-1] if k[:7] in ("result.", "metric.") else k: v for k, v in run.items()})
near = lambda a, b, share: abs(a - b) <= share * abs(b) or sys.exit(f"{a} is not within {share} of {b}")
laws = {"ring": lambda n, S, a, B: 2 * (n - 1) * a + 2 * (n - 1) / n * S / B,
        "recursive_doubling": lambda n, S, a, B: math.ceil(math.log2(n)) * (a + S / B),
        "reduce_broadcast": lambda n, S, a, B: 2 * math.ceil(math.log2(n)) * (a + S / B),
        "rabenseifner": lambda n, S, a, B: 2 * math.ceil(math.log2(n)) * a + 2 * (n - 1) / n * S / B,
        "linear": lambda n, S, a, B: 2 * (n - 1) * (a + S / B)}
assert len(runs["law"]) == 10 and len(runs["small"]) == 2
for name, bytes in (("law", 64e6), ("small", 1e3)):
    for run in runs[name]:
        law = laws[run["param.algorithm"]](run["param.workers"], bytes, 10e-6, 10e9)
        near(run["step_time"], law, 0.01)
        near(run["formula_communication_time"], law, 1e-9)
for run in sum(runs.values(), []):
    assert run["simulated"] == 1, run
# overlap: all but the last bucket is hidden behind the backward pass; without it nothing is
net = {(r["param.overlap"], r["param.steps"]): r for r in runs["net"]}
for steps in (1, 3):
    hidden, bare = net[True, steps], net[False, steps]
    near(hidden["communication_time"], bare["communication_time"], 0.01)
    near(bare["exposed_communication_time"], bare["communication_time"], 0.001)
    near(bare["overlap"] + 1, 1, 0.001)
    assert hidden["overlap"] > 0.6 and hidden["step_time"] < bare["step_time"], hidden
    for run in (hidden, bare):
        near(run["step_time"], run["compute_time"] + run["exposed_communication_time"], 1e-4)
        near(run["communication_time"], run["formula_communication_time"], 0.01)
        near(run["throughput"], 64 / run["step_time"], 1e-9)
        epoch = math.ceil(50000 / 64) * run["step_time"]
        near(run["total_time"], epoch, 1e-9)
        near(run["cost"], epoch / 3600 * 4 * 0.9, 1e-9)
        assert (run["effective_batch"], run["worker_batch"], run["worker_count"], run["buckets"]) == (64, 16, 4, 5), run
near(net[True, 1]["step_time"], net[True, 3]["step_time"], 0.001)  # a ring leaves no worker behind
# one worker: what 'orch predict' says
text = json.load(open(sys.argv[2]))
one, = runs["one"]
def numbers(value):
    if isinstance(value, dict):
        for name, item in value.items():
            if isinstance(item, (int, float)) and name.startswith("step"):
                yield item
            yield from numbers(item)
    elif isinstance(value, list):
        for item in value:
            yield from numbers(item)
steps = list(numbers(text))
assert any(abs(s - one["step_time"]) < 1e-4 * s or abs(s / 1e3 - one["step_time"]) < 1e-4 * s / 1e3 for s in steps), (steps, one["step_time"])
assert one.get("overlap") is None and one["exposed_communication_time"] < 1e-6, one
given, = runs["given"]
near(given["compute_time"], 0.5, 1e-6)
near(given["step_time"], 0.5, 0.01)
assert (given["effective_batch"], given["worker_batch"]) == (32, 16)
near(given["total_time"], 3 * 32 * given["step_time"], 1e-9)
# two nodes of two: a ring sends 2 (n-1)/n S over the one slow link, once in each direction at a time
nodes = {(r["param.workers"], r["param.algorithm"]): r["step_time"] for r in runs["nodes"]}
near(nodes[2, "ring"], 2 * 10e-6 + 0.01, 0.01)
near(nodes[4, "ring"], 2 * 3 * 60e-6 + 1.5 * 0.1, 0.02)
near(nodes[4, "hierarchical"], 2 * 0.01 + 0.1, 0.02)  # up, a ring of two leaders, down
P
# a run is found by what it is: simulated
ok orch ls --where 'result.simulated = 1' --json
[ "$(json runs.#)" -gt 15 ] || _fail 'runs with simulated = 1'
exit 0
