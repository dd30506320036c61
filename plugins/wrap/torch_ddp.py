# SPDX-License-Identifier: MIT
"""torch.nn.parallel.DistributedDataParallel: a process for each worker, gradients reduced by gloo or NCCL."""
import json
import os

import orch
import timed_steps


def work(rank, settings, backend, folder):
    """One worker; worker 0 writes the results."""
    import torch
    import torch_nets

    torch.set_num_threads(settings.worker_threads)
    torch.distributed.init_process_group(backend, init_method="file://" + os.path.join(folder, "rendezvous"),
                                         rank=rank, world_size=settings.workers)
    device = "cuda:%d" % rank if backend == "nccl" else "cpu"
    net = torch_nets.make(settings).to(device)
    parallel = torch.nn.parallel.DistributedDataParallel(net, device_ids=[rank] if backend == "nccl" else None,
                                                         bucket_cap_mb=settings.bucket_bytes / 2**20)
    images, labels = torch_nets.batch(settings, settings.worker_batch, device)
    results = timed_steps.measure(settings, torch_nets.stepper(settings, parallel, images, labels))
    if rank == 0:
        results["parameter_bytes"] = torch_nets.parameter_bytes(net)
        with open(os.path.join(folder, "results.json"), "w") as file:
            json.dump(results, file)
    torch.distributed.destroy_process_group()


def main():
    trial = orch.start()
    timed_steps.skip_without(trial, "torch", "torch.distributed")
    import torch
    import torch.multiprocessing

    if not torch.distributed.is_available():
        trial.skip("this PyTorch was built without torch.distributed")
    settings = timed_steps.Settings(trial.params, trial.smoke)
    gpus = torch.cuda.device_count()
    backend = settings.backend
    if backend == "auto":
        backend = "nccl" if gpus >= settings.workers else "gloo"
    if backend == "nccl" and gpus < settings.workers:
        trial.skip("NCCL with %d workers needs as many CUDA devices; here are %d" % (settings.workers, gpus))
    folder = os.path.abspath(".")
    torch.multiprocessing.spawn(work, (settings, backend, folder), settings.workers)
    with open("results.json") as file:
        timed_steps.report(trial, json.load(file))
    trial.note("torch %s, %s, %d threads a worker" % (torch.__version__, backend, settings.worker_threads))


if __name__ == "__main__":
    main()
