#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Images a second of orch's plugin scaling beside PyTorch's DistributedDataParallel over gloo: the same network, effective
batch, crop and flip, two processes with one thread each, in turn. Times are of whole epochs, data included; the first epoch
warms up. DDP runs the expert's loop of bench/trainer.py in plain and in channels-last layout. Beside them orch trains the same in one
process with two threads.

resnet20  Fashion-MNIST's shape (1x28x28), batch 64: 1 MB of gradients
resnet18  3x64x64, batch 32: 45 MB of gradients

usage: PYTHON bench/ddp.py BUILD [--rounds N] [--only NAME] [--strict]
PYTHON: one that imports torch, of the version that BUILD's adapter was built against. --strict: exit status 1 where orch is
below 1.1 times DDP, or hides less than half of its communication."""
import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

import trainer

WORKERS, WANTED, HIDDEN = 2, 1.1, 0.5


# ---- DistributedDataParallel -------------------------------------------------------------------------------------------


class Worker(trainer.Expert):
    """One of DDP's processes: the expert's loop on its half of each batch."""

    def __init__(self, task, layout):
        super().__init__(task, "fp32", layout, False)

    def prepare(self):
        torch.manual_seed(1)
        side = self.task.side
        images = torch.rand(self.task.images, self.task.channels, side, side)
        self.padded = torch.nn.functional.pad(images, (self.PAD,) * 4).to(memory_format=self.layout)
        self.labels = torch.arange(self.task.images) % 10
        model = {"resnet20": trainer.resnet20, "resnet18": trainer.resnet18}[self.task.net](self.task.channels)
        self.model = DistributedDataParallel(model.to(memory_format=self.layout))
        self.optimizer = trainer.fastest_sgd(self.model)
        self.loss = self.loss_of

    def epoch(self, steps=None):
        count, part = self.task.images // self.task.batch, self.task.batch // WORKERS
        order = torch.randperm(self.task.images, generator=torch.Generator().manual_seed(7))
        for step in range(steps or count):
            rows = order[step * self.task.batch + dist.get_rank() * part:][:part]
            loss = self.loss(self.augmented(rows), self.labels[rows])
            loss.backward()
            self.optimizer.step()
            self.optimizer.zero_grad(set_to_none=True)
        return count * self.task.batch


def work(task, layout):
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    worker = Worker(task, layout)
    worker.prepare()
    worker.epoch()
    dist.barrier()
    begin = time.perf_counter()
    images = worker.epoch()
    dist.barrier()
    if dist.get_rank() == 0:
        print(images / (time.perf_counter() - begin))
    dist.destroy_process_group()


def ddp(task, layout):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    common = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": str(WORKERS), "OMP_NUM_THREADS": "1"}
    workers = [subprocess.Popen([sys.executable, __file__, "--work", task.net, layout], stdout=subprocess.PIPE, text=True,
                                env={**os.environ, **common, "RANK": str(rank)}) for rank in range(WORKERS)]
    outputs = [worker.communicate()[0] for worker in workers]
    if any(worker.returncode for worker in workers):
        sys.exit("a worker of DistributedDataParallel failed")
    return float(outputs[0])


# ---- orch --------------------------------------------------------------------------------------------------------------


def scaling(build, task, workers, overlaps=None):
    """Images a second of a timed epoch of so many workers on WORKERS threads; their hidden share of communication goes to overlaps."""
    with tempfile.TemporaryDirectory() as folder:
        recipe = os.path.join(folder, "t.recipe")
        with open(recipe, "w") as f:
            f.write(f"""format: 1
recipe: t
experiments:
  t:
    plugin: scaling
    with: {{ {task.recipe()}, workers: {workers}, epochs: 2, untimed_epochs: 1, threads: {WORKERS // workers}, crop_pad: 4, flip: true,
            val_images: 10, full_validation: false, milestones: [90%] }}
""")
        subprocess.run([f"{build}/orch", "run", recipe, "-q"], check=True, stdout=subprocess.DEVNULL)
        out = subprocess.run([f"{build}/orch", "show", "@last", "--json"], cwd=folder, capture_output=True, text=True)
        results = json.loads(out.stdout)["results"]
        if overlaps is not None:
            overlaps.append(results["overlap"])
        return task.images // task.batch * task.batch / results["timed_epoch_time"]


# ---- contest -----------------------------------------------------------------------------------------------------------


def contest(build, task, rounds):
    overlaps = []
    contestants = {f"{task.net} orch": lambda: scaling(build, task, WORKERS, overlaps),
                   f"{task.net} orch, one process": lambda: scaling(build, task, 1)}
    for layout in trainer.LAYOUTS:
        contestants[f"{task.net} DDP {layout}"] = lambda layout=layout: ddp(task, layout)
    rates = trainer.medians(contestants, rounds)
    mine, alone, *others = rates.values()
    best = max(others, key=statistics.median)
    ratio = statistics.median(a / b for a, b in zip(mine, best))
    hidden = statistics.median(overlaps)
    print(f"{task.net}: {WORKERS} workers / one process with {WORKERS} threads: {statistics.median(a / b for a, b in zip(mine, alone)):.2f}")
    print(f"{task.net}: orch / DDP's faster layout: {ratio:.2f} (asked for: {WANTED}); "
          f"communication hidden: {100 * hidden:.0f} % (asked for: {100 * HIDDEN:.0f} %)", flush=True)
    return ratio < WANTED or hidden < HIDDEN


def main():
    if sys.argv[1:2] == ["--work"]:
        task = next(task for task in trainer.TASKS if task.net == sys.argv[2])
        return work(task, trainer.LAYOUTS[sys.argv[3]])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=os.path.abspath)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="")
    parser.add_argument("--strict", action="store_true")
    args = parser.parse_args()
    trainer.print_versions(args.build)
    below = [contest(args.build, task, args.rounds) for task in trainer.TASKS if args.only in task.net]
    return int(args.strict and any(below))


if __name__ == "__main__":
    sys.exit(main())
