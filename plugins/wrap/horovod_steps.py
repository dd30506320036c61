# SPDX-License-Identifier: MIT
"""Horovod's synthetic benchmark (examples/pytorch/pytorch_synthetic_benchmark.py) on the networks of this folder. The
process that orch starts begins the workers with horovodrun, as `horovod_steps.py SETTINGS`. It calls horovodrun as a module:
the interpreter's bin folder need not be on the PATH."""
import json
import subprocess
import sys

import timed_steps


def work(params, smoke):
    import horovod.torch as hvd
    import torch
    import torch_nets

    hvd.init()
    settings = timed_steps.Settings(params, smoke)
    torch.set_num_threads(settings.worker_threads)
    device = "cuda:%d" % hvd.local_rank() if torch.cuda.is_available() else "cpu"
    net = torch_nets.make(settings).to(device)
    images, labels = torch_nets.batch(settings, settings.worker_batch, device)
    optimizer = torch.optim.SGD(net.parameters(), lr=settings.lr, momentum=settings.momentum,
                                weight_decay=settings.weight_decay)
    optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=net.named_parameters())
    hvd.broadcast_parameters(net.state_dict(), root_rank=0)

    def step():
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(net(images), labels)
        loss.backward()
        optimizer.step()
        loss.item()

    results = dict(timed_steps.measure(settings, step), parameter_bytes=torch_nets.parameter_bytes(net))
    if hvd.rank() == 0:
        with open("results.json", "w") as file:
            json.dump(results, file)
        with open("transport", "w") as file:
            file.write("NCCL" if hvd.nccl_built() and device != "cpu" else "MPI" if hvd.mpi_enabled() else "gloo")


def main():
    import orch

    trial = orch.start()
    timed_steps.skip_without(trial, "torch")
    import torch

    try:
        import horovod.torch
    except ImportError as error:
        trial.skip("%s; horovod 0.28.1 does not compile with PyTorch 2.1 or later (here is %s)" % (error, torch.__version__))
    arguments = [json.dumps(trial.params), "smoke" if trial.smoke else "run"]
    command = [sys.executable, "-m", "horovod.runner.launch", "-np", str(trial.params["workers"]), sys.executable, __file__] + arguments
    status = subprocess.call(command)
    if status:
        trial.fail("horovodrun ended with status %d" % status)
    with open("results.json") as file:
        timed_steps.report(trial, json.load(file))
    with open("transport") as file:
        transport = file.read()
    threads = timed_steps.Settings(trial.params, trial.smoke).worker_threads
    trial.note("horovod %s over %s, torch %s, %d threads a worker"
               % (horovod.__version__, transport, torch.__version__, threads))


if __name__ == "__main__":
    if len(sys.argv) > 2:
        work(json.loads(sys.argv[1]), sys.argv[2] == "smoke")
    else:
        main()
