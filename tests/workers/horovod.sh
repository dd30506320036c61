# The adapter for Horovod starts the workers through horovodrun, reports the measurements of worker 0 and notes the
# versions; a failing worker ends the trial. A package with the same names, which sums gradients by torch.distributed,
# stands in for Horovod.
# test: slow timeout=900
. "$(dirname "$0")/../cli/lib.sh"
for python in python3 /usr/bin/python3; do
    "$python" -c 'import torch.distributed' 2>/dev/null && break
    python=
done
[ -n "$python" ] || skip 'no Python with PyTorch'
mkdir -p packages/horovod/runner
echo '__version__ = "9.8.7"' >packages/horovod/__init__.py
touch packages/horovod/runner/__init__.py
cat >packages/horovod/runner/launch.py <<'P'
"""horovodrun -np N COMMAND..."""
import os
import subprocess
import sys
import time

count = int(sys.argv[sys.argv.index("-np") + 1])
workers = [subprocess.Popen(sys.argv[3:], env=dict(os.environ, STAND_IN="%d %d" % (i, count))) for i in range(count)]
while any(worker.poll() is None for worker in workers) and not any(worker.poll() for worker in workers):
    time.sleep(0.05)
for worker in workers:  # mpirun ends the others, too
    worker.kill()
sys.exit(1 if any(worker.wait() for worker in workers) else 0)
P
cat >packages/horovod/torch.py <<'P'
import os

import torch.distributed as dist


def init():
    if rank() == int(os.environ.get("FAILING_WORKER", "-1")):
        raise SystemExit("failed on purpose")
    dist.init_process_group("gloo", init_method="file://" + os.path.abspath("rendezvous"), rank=rank(), world_size=size())


def rank():
    return int(os.environ["STAND_IN"].split()[0])


def size():
    return int(os.environ["STAND_IN"].split()[1])


local_rank = rank
nccl_built = lambda: 0
mpi_enabled = lambda: True


def broadcast_parameters(state, root_rank):
    for name in sorted(state):
        dist.broadcast(state[name], root_rank)


def DistributedOptimizer(optimizer, named_parameters):
    parameters, step = [p for _, p in named_parameters], optimizer.step

    def reduced():
        for p in parameters:
            dist.all_reduce(p.grad)
            p.grad /= size()
        step()

    optimizer.step = reduced
    return optimizer
P
cat >h.recipe <<R
format: 1
recipe: h
experiments:
  horovod: { plugin: horovod, with: { python: $python, input: 3x8x8, net: "mlp:7", images: 32, batch: 8, workers: 2 }, sweep: { scaling: [strong, weak] } }
R
export PYTHONPATH=$PWD/packages
ok orch run h.recipe -q
ok orch export --format json
python3 - "$SCRATCH/out" <<'P' || _fail 'what the workers measured'
import json, sys
runs = {r["param.scaling"]: r for r in json.load(open(sys.argv[1]))}
for scaling, worker in (("strong", 4), ("weak", 8)):
    r = {k[7:]: v for k, v in runs[scaling].items() if k.startswith("result.")}
    assert runs[scaling]["state"] == "ok" and r["worker_batch"] == worker and r["worker_count"] == 2, r
    assert r["parameter_bytes"] == 4 * ((192 + 1) * 7 + (7 + 1) * 10), r
    assert abs(r["throughput"] * r["step_time"] - 2 * worker) < 1e-6 and r["total_time"] > r["timed_epoch_time"] > 0, r
P
ok orch show @last
has 'horovod 9.8.7 over MPI, torch '
# a batch that the workers cannot share, a worker that fails
fails 1 orch run h.recipe -q -x scaling=strong -s workers=3
ok orch show @last --json
same "$(json state)" failed 'an odd batch'
FAILING_WORKER=1 fails 1 orch run h.recipe -q --force -x scaling=strong -s workers=1 -s workers=2
ok orch show @last --json
same "$(json reason)" 'horovodrun ended with status 1' 'a failing worker'
# without the package
unset PYTHONPATH
"$python" -c 'import horovod' 2>/dev/null || {
    _run orch run h.recipe -q --force -x scaling=strong
    ok orch show @last --json
    same "$(json state)" skipped states
    case $(json reason) in "No module named 'horovod'; horovod 0.28.1"*) ;; *) _fail "$(json reason)" ;; esac
}
