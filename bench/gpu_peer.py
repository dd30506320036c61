#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Training throughput of orch and of the same loop in PyTorch, eager and compiled, taking turns in one run. Stage 3 of
bench/gpu.sh. PyTorch's side is the loop of someone who knows it: the data set as one tensor of bytes on the device, a batch by
index, crop and flip of a whole batch at once, normalisation on the device, channels-last, SGD with momentum over lists of
tensors, no synchronisation within an epoch. Each contestant trains EPOCHS epochs in a round; its rate is that of the last one,
and the table has the median of the rounds.

usage: python3 bench/gpu_peer.py BUILD RESULTS.jsonl [--device cuda] [--rounds 3] [--limit SECONDS] [--tiny] [--nets A,B]
       (one line of JSON for each contestant; an existing file is replaced)
"""
import argparse
import atexit
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import torch
import torch.nn.functional as F
from torch import nn

p = argparse.ArgumentParser()
p.add_argument("build")
p.add_argument("results")
p.add_argument("--device", default="cuda")
p.add_argument("--rounds", type=int, default=3)
p.add_argument("--limit", type=float, default=780)
p.add_argument("--nets", default="")
p.add_argument("--tiny", action="store_true", help="sizes that a processor trains in seconds")
args = p.parse_args()
build, begin = os.path.abspath(args.build), time.monotonic()
# network, side, images an epoch, batch, epochs, crop and flip as well
TASKS = [("resnet18-cifar", 32, 25600, 128, 3, True), ("resnet50", 224, 1024, 64, 6, False), ("vgg11_bn", 64, 1024, 128, 12, False)]
if args.tiny:
    TASKS = [("resnet18-cifar", 32, 64, 16, 2, True), ("resnet50", 32, 64, 16, 2, False), ("vgg11_bn", 32, 64, 16, 2, False)]
PRECISIONS = ["fp32", "tf32", "bf16"]
MEAN, STD = (0.4914, 0.4822, 0.4465), (0.2470, 0.2435, 0.2616)
orch_program = os.path.join(build, "orch")
work = tempfile.mkdtemp(prefix="orch-gpu-")
atexit.register(shutil.rmtree, work, ignore_errors=True)


def say(text):
    print(text, file=sys.stderr, flush=True)


def left():
    return args.limit - (time.monotonic() - begin)


# ---- PyTorch ------------------------------------------------------------------------------------


def make_net(name):
    import torchvision

    if name != "resnet18-cifar":
        return getattr(torchvision.models, name)(num_classes=10)
    net = torchvision.models.resnet18(num_classes=10)
    net.conv1, net.maxpool = nn.Conv2d(3, 64, 3, 1, 1, bias=False), nn.Identity()
    return net


def synchronize():
    if args.device != "cpu":
        torch.cuda.synchronize()


def set_precision(name):
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = name == "tf32"
    torch.backends.cudnn.benchmark = True


class Peer:
    """One network in PyTorch, which trains epochs of a set that lies on the device."""

    def __init__(self, net, side, images, batch, precision, compiled):
        set_precision(precision)
        torch.manual_seed(1)
        self.side, self.count, self.batch, self.precision = side, images, batch, precision
        self.model = make_net(net).to(args.device, memory_format=torch.channels_last)
        self.step_model = torch.compile(self.model, mode=compiled) if compiled else self.model
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01, momentum=0.9, weight_decay=1e-4)
        self.images = torch.randint(0, 256, (images, 3, side, side), dtype=torch.uint8, device=args.device)
        self.labels = torch.arange(images, device=args.device) % 10
        self.mean = torch.tensor(MEAN, device=args.device).view(1, 3, 1, 1) * 255
        self.std = torch.tensor(STD, device=args.device).view(1, 3, 1, 1) * 255

    def crop_and_flip(self, x):
        n, side = x.shape[0], self.side
        x = F.pad(x, (4, 4, 4, 4))
        at = torch.arange(side, device=x.device)
        rows = torch.randint(0, 9, (n, 1), device=x.device) + at
        flip = torch.rand(n, 1, device=x.device) < 0.5
        columns = torch.randint(0, 9, (n, 1), device=x.device) + torch.where(flip, side - 1 - at, at)
        return x[torch.arange(n, device=x.device).view(n, 1, 1, 1), torch.arange(3, device=x.device).view(1, 3, 1, 1),
                 rows.view(n, 1, side, 1), columns.view(n, 1, 1, side)]

    def epoch(self, augment):
        set_precision(self.precision)
        order = torch.randperm(self.count, device=args.device)
        total = torch.zeros((), device=args.device)
        for i in range(0, self.count - self.batch + 1, self.batch):
            index = order[i:i + self.batch]
            x = self.images[index]
            x = ((self.crop_and_flip(x) if augment else x).float() - self.mean) / self.std
            x = x.contiguous(memory_format=torch.channels_last)
            with torch.autocast(args.device, torch.bfloat16, enabled=self.precision == "bf16"):
                loss = F.cross_entropy(self.step_model(x), self.labels[index])
            self.optimizer.zero_grad(set_to_none=True)
            loss.backward()
            self.optimizer.step()
            total += loss.detach()
        return total

    def measure(self, epochs, augment):
        for epoch in range(epochs):
            synchronize()
            start = time.perf_counter()
            self.epoch(augment)
            synchronize()
            seconds = time.perf_counter() - start
        return self.count // self.batch * self.batch / seconds


# ---- orch ---------------------------------------------------------------------------------------


def write_cifar(images):
    """A data set in CIFAR-10's format whose pixels are random bytes."""
    folder = os.path.join(work, f"data{images}", "cifar10")
    os.makedirs(folder, exist_ok=True)
    rng = random.Random(1)
    for i in range(1, 7):
        with open(os.path.join(folder, f"data_batch_{i}.bin" if i < 6 else "test_batch.bin"), "wb") as f:
            for j in range(images // 5 if i < 6 else 100):
                f.write(bytes([j % 10]) + rng.randbytes(3072))
    return os.path.dirname(folder)


def data_of(net, side, images):
    if net == "resnet18-cifar":
        return f"dataset: cifar10, data_root: {write_cifar(images)}"
    return f"dataset: synthetic, image_size: {side}, per_class: {(images + 9) // 10}"


def orch(net, data, batch, epochs, precision, augment, graphs):
    words = [data, f"net: {net}", f"batch: {batch}", f"epochs: {epochs}", f"precision: {precision}", f"device: {args.device}",
             "lr: 0.01", "schedule: constant", "weight_decay: 0.0001", "layout: channels_last", "val_images: 10", "checkpoint_every: 1h",
             f"graphs: {graphs}"]
    words += ["crop_pad: 4", "flip: true"] if augment else []
    words += ["loader_threads: 4"] if not args.tiny else []
    resources = "    resources: { gpus: 1 }\n" if args.device != "cpu" else ""
    recipe = os.path.join(work, "gpu.recipe")
    with open(recipe, "w") as f:
        f.write("format: 1\nrecipe: gpu\nexperiments:\n  gpu:\n    plugin: train\n" + resources + "    with: { " + ", ".join(words) + " }\n")
    db = os.path.join(work, "gpu.db")
    ran = subprocess.run([orch_program, "run", recipe, "-q", "--force", "--db", db], cwd=work, capture_output=True, text=True)
    if ran.returncode:
        raise RuntimeError((ran.stderr or ran.stdout).strip()[-600:])
    shown = subprocess.run([orch_program, "show", "@last", "--json", "--db", db], cwd=work, capture_output=True, text=True)
    run = json.loads(shown.stdout)
    if graphs == "on" and not run["results"]["cuda_graphs"]:
        notes = [note for note in run["facts"].get("notes", []) if "graphs" in note]
        raise RuntimeError("error: no step was replayed as a CUDA graph: " + ("; ".join(notes) or "too few steps"))
    return {m["name"]: m for m in run["metrics"]}["images_per_s"]["last"]


# ---- turns --------------------------------------------------------------------------------------


def contestants_of(task, precision):
    net, side, images, batch, epochs, _ = task
    data = data_of(net, side, images)
    found = {}
    choices = [("orch", "off")] + ([("orch, CUDA graphs", "on")] if args.device != "cpu" else [])
    for name, graphs in choices:
        found[name] = lambda augment, graphs=graphs: orch(net, data, batch, epochs, precision, augment, graphs)
    modes = [("PyTorch eager", None), ("torch.compile", "default")]
    modes += [("torch.compile, CUDA graphs", "reduce-overhead")] if args.device != "cpu" and net == "resnet18-cifar" else []
    for name, mode in modes:
        peer = {}

        def measure(augment, mode=mode, peer=peer):
            if "it" not in peer:
                peer["it"] = Peer(net, side, images, batch, precision, mode)
                peer["it"].measure(1, augment)  # compiles, and lets cuDNN choose
            return peer["it"].measure(epochs, augment)

        found[name] = measure
    return found


def record(row):
    with open(args.results, "a") as f:
        f.write(json.dumps(row) + "\n")


def compare(task, precision):
    net, side, _, batch, _, with_augmentation = task
    contestants = contestants_of(task, precision)
    for augment in [False, True] if with_augmentation else [False]:
        about = {"net": net, "side": side, "batch": batch, "precision": precision, "augment": augment}
        rates, failed = {}, {}
        for _ in range(args.rounds):
            for name, measure in contestants.items():
                if name in failed:
                    continue
                if left() < 0:
                    failed[name] = "the time limit of the stage was reached"
                    continue
                try:
                    rates.setdefault(name, []).append(measure(augment))
                except Exception as error:  # another contestant may still run
                    lines = str(error).strip().splitlines() or [type(error).__name__]
                    failed[name] = next((line for line in lines if "error" in line.lower() or "orch:" in line), lines[0])[:300]
        for name in contestants:
            values = rates.get(name, [])
            rate = statistics.median(values) if values else None
            record({**about, "who": name, "images_per_s": rate, "rounds": values, "failed": failed.get(name)})
            say(f"{net} {precision}{' crop, flip' if augment else ''}: {name} "
                + (f"{rate:.0f} images/s" if rate else f"failed: {failed.get(name)}"))


open(args.results, "w").close()
for task in TASKS:
    for precision in PRECISIONS:
        if args.nets and task[0] not in args.nets.split(","):
            continue
        compare(task, precision)
        if args.device != "cpu":
            torch.cuda.empty_cache()
        if hasattr(torch, "_dynamo"):
            torch._dynamo.reset()
