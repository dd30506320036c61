# The plugin gpukernels: references are timed on the processor, kernels on a GPU; without a GPU the reason is given.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
cat >k.recipe <<R
format: 1
recipe: k
experiments:
  reference: { plugin: gpukernels, with: { variant: cpu, rows: 37, columns: 101, min_samples: 3, min_time: 0s, settled: 1 },
               sweep: { kernel: [saxpy, reduction, transpose, softmax] } }
  fast: { plugin: gpukernels, with: { variant: fast, rows: 255, columns: 1023, min_time: 0s, time_limit: 1s } }
R
ok orch run k.recipe -q
ok orch export --format json
python3 - "$SCRATCH/out" <<'P' || _fail 'what was measured'
import json, sys
runs = json.load(open(sys.argv[1]))
bytes = {"saxpy": 12, "reduction": 4, "transpose": 8, "softmax": 8}
states = {r["state"] for r in runs if r["experiment"] == "reference"}
assert states in ({"ok"}, {"skipped"}), states  # skipped: built without kernels
for r in runs:
    if r["experiment"] == "reference" and r["state"] == "ok":
        assert r["result.error_of_tolerance"] == 0 and r["result.kernel_samples"] >= 3, r
        assert abs(r["result.bandwidth"] * r["result.kernel_time"] * 1e6 / (37 * 101 * bytes[r["param.kernel"]]) - 1) < 1e-9, r
    if r["experiment"] == "fast":
        assert r["state"] in ("ok", "skipped"), r
P
fails 2 orch run k.recipe fast -q -s kernel=softmin
says softmax
