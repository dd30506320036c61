# The plugin allreduce: each algorithm gives correct sums, bandwidths follow from times, and the fit explains them; MPI
# is configured for the algorithm, an MPI that cannot be configured and wrong input are refused.
# test: slow timeout=1200
. "$(dirname "$0")/../cli/lib.sh"
[ -e "$BUILD/tests/mpi/mpi_sum.so" ] || skip 'built without MPI (libopenmpi-dev, openmpi-bin)'
command -v mpirun >/dev/null || skip 'no mpirun on the PATH'
cat >a.recipe <<R
format: 1
recipe: a
experiments:
  sizes:
    plugin: allreduce
    with: { workers: 3, bytes: [1KiB, 37KiB, 1MiB], repeats: 4, warmup: 2 }
    sweep: { algorithm: [auto, linear, reduce_broadcast, recursive_doubling, ring, segmented_ring, rabenseifner, hierarchical] }
  one: { plugin: allreduce, with: { bytes: 4KiB, repeats: 1, warmup: 1 } }
R
ok orch run a.recipe -q
ok orch export --format json
cp "$SCRATCH/out" runs.json
out=
python3 - runs.json <<'P' || _fail 'what was measured'
import json, sys
runs = [r for r in json.load(open(sys.argv[1])) if r["experiment"] == "sizes"]
assert len(runs) == 8
for r in runs:
    assert r["state"] == "ok" and abs(r["result.bus_factor"] - 4 / 3) < 1e-12 and r["result.worker_count"] == 3, r
    time, bytes = r["metric.time"], 1 << 20  # the last size
    assert time >= r["metric.min_time"] > 0 and r["metric.timed_repeats"] >= 3, r
    assert abs(r["metric.algorithm_bandwidth"] * 1e9 * time / bytes - 1) < 1e-9, r
    assert abs(r["metric.bus_bandwidth"] / r["metric.algorithm_bandwidth"] - 4 / 3) < 1e-9, r
    assert abs(r["metric.fitted_time"] / time - 1 - r["metric.fit_residual"]) < 1e-9, r
    assert (r.get("result.latency") is None) == (r["result.fit_error"] > 0.2) and (r.get("result.latency") or 0) >= 0, r
    assert r["result.fit_error"] <= 0.2 or r.get("result.bandwidth") is None, r
    volume = {"ring": 4 / 3, "reduce_broadcast": 4}.get(r["param.algorithm"])  # of 3 workers: 2 (n-1)/n; 2 ceil(log2 n)
    assert r["result.largest_bandwidth"] > 0, r
    assert not volume or abs(r["result.largest_bandwidth"] * 1e9 * time / bytes / volume - 1) < 1e-9, r
    assert r["result.fit_error"] >= abs(r["metric.fit_residual"]) / 3 - 1e-12, r
P
ok orch show @last
has 'latency and bandwidth cannot be computed from all-reduces of one size'
ok orch ls --where 'algorithm = ring' --json
ring=$(json runs.0.key)
ok orch show "$ring"
has 'fitted: t = 2 (n-1) a + 2 (n-1)/n S/B, n = 3'
# what cannot be
fails 2 orch run a.recipe one -q -s workers=1
fails 2 orch run a.recipe one -q -s algorithm=butterfly
fails 2 orch run a.recipe one -q -s 'bytes=[]'
says 'bytes: no size is given'
