# The adapters for other frameworks: each is listed, and skipped with the name of the module that is missing; a program is
# timed; DistributedDataParallel trains where PyTorch is installed, with the parameters of orch's network.
# test: slow timeout=900
. "$(dirname "$0")/../cli/lib.sh"
for plugin in ddp dp mirrored multiworker horovod timed; do
    ok orch plugin show $plugin
    has step_time
done
# an interpreter without any installed package
printf '#!/bin/sh\nexec python3 -S "$@"\n' >"$SCRATCH/bin/bare-python"
chmod +x "$SCRATCH/bin/bare-python"
cat >w.recipe <<R
format: 1
recipe: w
experiments:
  ddp: { plugin: ddp, with: { python: bare-python } }
  dp: { plugin: dp, with: { python: bare-python } }
  mirrored: { plugin: mirrored, with: { python: bare-python } }
  multiworker: { plugin: multiworker, with: { python: bare-python } }
  horovod: { plugin: horovod, with: { python: bare-python } }
  timed: { plugin: timed, with: { run: "sh -c 'sleep 0.01; test \$WORKERS = 3 -a \$BATCH = 8'", workers: 3, batch: 8, images: 80, runs: 4 } }
  failing: { plugin: timed, with: { run: "sh -c 'exit 3'" } }
  absent: { plugin: timed, with: { run: no-such-program } }
R
reason() {
    ok orch ls --where "experiment = $1" --json
    ok orch show "$(json runs.0.key)" --json
    same "$(json state): $(json reason)" "$2" "$1"
}
ok orch run w.recipe ddp dp mirrored multiworker horovod absent timed -q
for name in ddp dp horovod; do reason $name 'skipped: no module torch'; done
for name in mirrored multiworker; do reason $name 'skipped: no module tensorflow'; done
reason absent 'skipped: no program no-such-program'
ok orch ls --where 'experiment = timed' --json
ok orch show "$(json runs.0.key)" --json
python3 - "$SCRATCH/out" <<'P' || _fail 'a timed program'
import json, sys
run = json.load(open(sys.argv[1]))
r = run["results"]
assert run["state"] == "ok" and r["step_time"] >= 0.01 and r["worker_count"] == 3, run
assert abs(r["throughput"] * r["step_time"] - 80) < 1e-6 and r["total_time"] >= 5 * 0.01, r
assert [m["points"] for m in run["metrics"] if m["name"] == "run_time"] == [4], run["metrics"]
P
fails 1 orch run w.recipe failing -q
reason failing 'failed: sh ended with status 3'
# with PyTorch
for python in python3 /usr/bin/python3; do
    "$python" -c 'import torch.distributed' 2>/dev/null && break
    python=
done
[ -n "$python" ] || {
    echo 'DistributedDataParallel was not run: no Python with PyTorch'
    exit 0
}
cat >t.recipe <<R
format: 1
recipe: t
experiments:
  ddp: { plugin: ddp, with: { python: $python, input: 3x8x8, net: "mlp:7", images: 32, batch: 8, workers: 2, backend: gloo }, sweep: { scaling: [strong, weak] } }
R
ok orch run t.recipe -q
ok orch export --format json
python3 - "$SCRATCH/out" <<'P' || _fail 'DistributedDataParallel'
import json, sys
runs = {r["param.scaling"]: r for r in json.load(open(sys.argv[1])) if r["recipe"] == "t"}
for scaling, worker in (("strong", 4), ("weak", 8)):
    r = {k[7:]: v for k, v in runs[scaling].items() if k.startswith("result.")}
    assert r["worker_batch"] == worker and r["effective_batch"] == 2 * worker and r["worker_count"] == 2, r
    assert r["parameter_bytes"] == 4 * ((192 + 1) * 7 + (7 + 1) * 10), r
    assert abs(r["throughput"] * r["step_time"] - 2 * worker) < 1e-6 and r["total_time"] > r["timed_epoch_time"] > 0, r
P
