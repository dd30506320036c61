#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Images a second of orch's trainer beside loops in PyTorch, interleaved in one run; medians of the rounds.

idiom   orch, PyTorch's own idiom (a Dataset, a DataLoader with one worker) and a bare LibTorch loop: resnet20 (He et al.
        4.2, option A) on 1x28x28 images, batch 64, SGD with momentum, all threads; orch and PyTorch crop and flip, the
        bare loop (bench/bare_torch.cpp) only trains on one batch that lies ready. Then bf16 against fp32 of orch: on the
        same task, and at the shape and batch of the network's paper (3x32x32, 128).
expert  orch and the loop of someone who knows PyTorch: the set as one tensor, crop and flip of a whole batch by one
        index, SGD over all tensors at once, eager and compiled, plain and channels-last layout, fp32 and bf16; resnet20
        on Fashion-MNIST (1x28x28, batch 64) and resnet18 on synthetic 3x64x64 images (batch 32). Each contestant gets
        the same processors (--threads, 1 by default), orch's loader thread included.

usage: PYTHON bench/trainer.py BUILD [idiom|expert] [--threads N] [--rounds N] [--only TEXT] [--eager] [--strict]
PYTHON: one that imports torch, of the version that BUILD's adapter was built against. --only: the contestants whose
name contains TEXT, such as "resnet20 fp32". --eager: without compiled forms. --strict: exit status 1 when orch is below what is asked for."""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

# kernels that another run compiled for more threads would run with as many on fewer processors
os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", tempfile.mkdtemp(prefix="trainer-"))

import torch
import torch.nn.functional as F
from torch import nn

CPUS = sorted(os.sched_getaffinity(0))
BATCH, IMAGES, EPOCHS = 64, 4096, 3


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=os.path.abspath)
    parser.add_argument("part", nargs="?", choices=["idiom", "expert"])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--only", default="")
    parser.add_argument("--eager", action="store_true")
    parser.add_argument("--strict", action="store_true")
    return parser.parse_args()


# ---- networks ---------------------------------------------------------------------------------------------------------


class Block(nn.Module):
    """Two 3x3 convolutions beside a shortcut: strided and padded with zero channels (option A), or a projection."""

    def __init__(self, inputs, outputs, stride, projects=False):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.extra = outputs - inputs
        self.project = None
        if projects and self.extra:
            self.project = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)), inplace=True)
        y = self.bn2(self.conv2(y))
        if self.project:
            x = self.project(x)
        elif self.extra:
            x = F.pad(x[:, :, ::2, ::2], (0, 0, 0, 0, self.extra // 2, self.extra - self.extra // 2))
        return F.relu(y.add_(x), inplace=True)


def resnet(stem, first_width, stages, blocks, projects):
    layers, width = [], first_width
    for stage in range(stages):
        for i in range(blocks):
            out = first_width << stage
            layers.append(Block(width, out, 2 if stage and not i else 1, projects))
            width = out
    return nn.Sequential(*stem, *layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, 10))


def resnet20(channels=1):
    stem = [nn.Conv2d(channels, 16, 3, 1, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU(inplace=True)]
    return resnet(stem, 16, 3, 3, False)


def resnet18(channels=3):
    stem = [nn.Conv2d(channels, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True),
            nn.MaxPool2d(3, 2, 1)]
    return resnet(stem, 64, 4, 2, True)


# ---- PyTorch's own idiom ----------------------------------------------------------------------------------------------


class Augmented(torch.utils.data.Dataset):
    def __init__(self):
        self.images = torch.rand(IMAGES, 1, 28, 28)
        self.labels = torch.arange(IMAGES) % 10

    def __len__(self):
        return IMAGES

    def __getitem__(self, i):
        x = F.pad(self.images[i], (4, 4, 4, 4))
        dy, dx = torch.randint(0, 9, (2,)).tolist()
        x = x[:, dy:dy + 28, dx:dx + 28]
        return (x.flip(2) if torch.rand(()) < 0.5 else x), self.labels[i]


def idiom():
    model = resnet20()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
    loader = torch.utils.data.DataLoader(Augmented(), BATCH, shuffle=True, num_workers=1, persistent_workers=True)
    for epoch in range(EPOCHS):
        begin = time.perf_counter()
        for x, y in loader:
            loss = F.cross_entropy(model(x), y)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
        seconds = time.perf_counter() - begin
    return IMAGES / seconds  # the last epoch: the first warms up


# ---- the expert's loop ------------------------------------------------------------------------------------------------


class Task:
    def __init__(self, net, dataset, channels, side, batch, images):
        self.net, self.dataset, self.channels, self.side = net, dataset, channels, side
        self.batch, self.images = batch, images

    def recipe(self):
        size = f", image_size: {self.side}" if self.dataset == "synthetic" else ""
        return f"dataset: {self.dataset}{size}, per_class: {self.images // 10}, batch: {self.batch}, net: {self.net}"


TASKS = [Task("resnet20", "fashion-mnist", 1, 28, 64, 2560), Task("resnet18", "synthetic", 3, 64, 32, 640)]


def fastest_sgd(model):
    """All tensors in one call: the fused kernel where this PyTorch has it for a CPU (from 2.4), else foreach."""
    settings = {"lr": 0.1, "momentum": 0.9, "weight_decay": 1e-4}
    try:
        return torch.optim.SGD(model.parameters(), fused=True, **settings)
    except (TypeError, RuntimeError):
        return torch.optim.SGD(model.parameters(), foreach=True, **settings)


class Expert:
    """One training, made at the first call; each call trains for one epoch and returns images a second."""
    PAD = 4

    def __init__(self, task, precision, layout, compiled):
        self.task, self.precision, self.layout, self.compiled = task, precision, layout, compiled
        self.model = None

    def prepare(self):
        torch.manual_seed(1)
        side = self.task.side
        images = torch.rand(self.task.images, self.task.channels, side, side)
        self.padded = F.pad(images, (self.PAD,) * 4).to(memory_format=self.layout)
        self.labels = torch.arange(self.task.images) % 10
        self.model = {"resnet20": resnet20, "resnet18": resnet18}[self.task.net](self.task.channels)
        self.model.to(memory_format=self.layout)
        self.optimizer = fastest_sgd(self.model)
        self.loss = torch.compile(self.loss_of) if self.compiled else self.loss_of
        self.epoch(6)  # compiles and warms up

    def loss_of(self, x, y):
        with torch.autocast("cpu", torch.bfloat16, enabled=self.precision == "bf16"):
            scores = self.model(x)
        return F.cross_entropy(scores.float(), y)

    def augmented(self, rows):
        """Crop and mirror of a whole batch by one index; the result has the layout of the network."""
        n, side = len(rows), self.task.side
        dy, dx = torch.randint(0, 2 * self.PAD + 1, (2, n, 1))
        line = torch.arange(side)
        mirrored = torch.rand(n, 1) < 0.5
        ys, xs = line + dy, torch.where(mirrored, side - 1 - line, line) + dx
        if self.layout == torch.channels_last:
            return self.padded.permute(0, 2, 3, 1)[rows[:, None, None], ys[:, :, None], xs[:, None]].permute(0, 3, 1, 2)
        channels = torch.arange(self.task.channels)[:, None, None]
        return self.padded[rows[:, None, None, None], channels, ys[:, None, :, None], xs[:, None, None]]

    def epoch(self, steps=None):
        count = self.task.images // self.task.batch
        order = torch.randperm(self.task.images)
        for step in range(steps or count):
            rows = order[step % count * self.task.batch:][:self.task.batch]
            loss = self.loss(self.augmented(rows), self.labels[rows])
            loss.backward()
            self.optimizer.step()
            self.optimizer.zero_grad(set_to_none=True)
        return count * self.task.batch

    def __call__(self):
        if not self.model:
            self.prepare()
        begin = time.perf_counter()
        images = self.epoch()
        return images / (time.perf_counter() - begin)


# ---- orch -------------------------------------------------------------------------------------------------------------


def orch(build, settings, threads, epochs, plugin="train", augmentation="crop_pad: 4, flip: true"):
    """The last epoch's images a second of a trial of a training plugin."""
    with tempfile.TemporaryDirectory() as folder:
        recipe = os.path.join(folder, "t.recipe")
        with open(recipe, "w") as f:
            f.write(f"""format: 1
recipe: t
experiments:
  t:
    plugin: {plugin}
    with: {{ {settings}, epochs: {epochs}, {augmentation},
            threads: {threads}, val_images: 10, milestones: [90%] }}
""")
        subprocess.run([f"{build}/orch", "run", recipe, "-q"], check=True, stdout=subprocess.DEVNULL)
        out = subprocess.run([f"{build}/orch", "show", "@last", "--json"], cwd=folder, capture_output=True, text=True)
        metrics = {m["name"]: m for m in json.loads(out.stdout)["metrics"]}
        return metrics["images_per_s"]["last"]


def bare(build, threads):
    program = f"{build}/bench_bare_torch"
    out = subprocess.run([program, str(threads), str(BATCH), str(IMAGES // BATCH)], check=True, capture_output=True)
    return float(out.stdout)


# ---- contests ---------------------------------------------------------------------------------------------------------


def medians(contestants, rounds):
    rates = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, measure in contestants.items():
            rates[name].append(measure())
    for name, values in rates.items():
        print(f"{name:38} {statistics.median(values):6.0f} images/s ({min(values):.0f} to {max(values):.0f})", flush=True)
    return rates


def use(threads):
    os.sched_setaffinity(0, CPUS[:threads])
    torch.set_num_threads(threads)


def idiom_contest(build, threads, rounds, only):
    small = f"dataset: fashion-mnist, per_class: {IMAGES // 10}, batch: {BATCH}, net: resnet20"
    paper = f"dataset: synthetic, image_size: 32, per_class: {IMAGES // 10}, batch: 128, net: resnet20"
    subprocess.run(["cmake", "--build", build, "--target", "bench_bare_torch"], check=True, stdout=subprocess.DEVNULL)
    contestants = {
        "orch": lambda: orch(build, f"{small}, precision: fp32", threads, EPOCHS),
        "PyTorch": idiom,
        "bare LibTorch": lambda: bare(build, threads),
        "orch bf16": lambda: orch(build, f"{small}, precision: bf16", threads, EPOCHS),
        "orch, 3x32x32": lambda: orch(build, f"{paper}, precision: fp32", threads, EPOCHS),
        "orch bf16, 3x32x32": lambda: orch(build, f"{paper}, precision: bf16", threads, EPOCHS),
    }
    rates = medians({name: measure for name, measure in contestants.items() if only in name}, rounds)
    below = False
    for a, b, wanted in [("orch", "PyTorch", 1), ("orch", "bare LibTorch", 0.97), ("orch bf16", "orch", None),
                         ("orch bf16, 3x32x32", "orch, 3x32x32", 1.5)]:
        if a not in rates or b not in rates:
            continue
        ratio = statistics.median(rates[a]) / statistics.median(rates[b])
        below = below or (wanted is not None and ratio < wanted)
        print(f"{a} / {b}: {ratio:.2f}" + (f" (asked for: {wanted})" if wanted is not None else ""))
    return below


LAYOUTS = {"plain": torch.contiguous_format, "channels-last": torch.channels_last}


def expert_contestants(build, task, precision, threads, eager):
    forms = ["eager"] if eager or not hasattr(torch, "compile") else ["eager", "compiled"]
    contestants = {}
    for layout, memory_format in LAYOUTS.items():
        settings = f"{task.recipe()}, precision: {precision}, layout: {layout.replace('-', '_')}"
        contestants[f"orch {layout}"] = lambda settings=settings: orch(build, settings, threads, 2)
        for form in forms:
            contestants[f"{form} {layout}"] = Expert(task, precision, memory_format, form == "compiled")
    return contestants


def expert_contest(build, threads, rounds, only, eager):
    """Ratios are medians over the rounds of orch / expert within a round."""
    below, table = False, []
    for task in TASKS:
        for precision in ("fp32", "bf16"):
            name = f"{task.net} {precision}"
            contestants = {f"{name} {key}": measure
                           for key, measure in expert_contestants(build, task, precision, threads, eager).items()}
            contestants = {key: measure for key, measure in contestants.items() if only in key}
            if not contestants:
                continue
            rates = medians(contestants, rounds)
            best = {who: max((key for key in rates if (" orch " in key) == (who == "orch")), default=None,
                             key=lambda key: statistics.median(rates[key])) for who in ("orch", "expert")}
            if not (best["orch"] and best["expert"]):
                continue
            for mine in (key for key in rates if " orch " in key):
                for other in (key for key in rates if " orch " not in key):
                    ratio = statistics.median(a / b for a, b in zip(rates[mine], rates[other]))
                    marks = f"{'best' if mine == best['orch'] else '':5}{'best' if other == best['expert'] else '':5}"
                    below = below or (mine == best["orch"] and other == best["expert"] and ratio < 1)
                    table.append((name, mine[len(name) + 6:], other[len(name) + 1:], marks, ratio))
    print(f"\n{'network':15} {'orch':14} {'expert':24} {'(orch expert)':14} orch / expert")
    for name, mine, other, marks, ratio in table:
        print(f"{name:15} {mine:14} {other:24} {marks:14} {ratio:.2f}")
    return below


def adapter_version(build):
    with open(f"{build}/plugins/common/orch-torch.version") as f:
        return f.read().strip()


def print_versions(build):
    here, there = re.match(r"[\d.]+", torch.__version__)[0], adapter_version(build)
    print(f"PyTorch {here}, orch with LibTorch {there}, load average {os.getloadavg()[0]:.1f}", flush=True)
    if here != there:
        print("the versions differ: ratios compare LibTorch with LibTorch, not orch with PyTorch")


def main():
    chosen, below = options(), False
    print_versions(chosen.build)
    if chosen.part != "expert":
        use(len(CPUS))
        print(f"idiom, {len(CPUS)} threads")
        below = idiom_contest(chosen.build, len(CPUS), chosen.rounds or 3, chosen.only)
    if chosen.part != "idiom":
        use(chosen.threads)
        print(f"expert, {chosen.threads} thread{'s' * (chosen.threads > 1)}")
        below = expert_contest(chosen.build, chosen.threads, chosen.rounds or 5, chosen.only, chosen.eager) or below
    return chosen.strict and below


if __name__ == "__main__":
    sys.exit(main())
