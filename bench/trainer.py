#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Images a second of orch's trainer, of the same training in PyTorch's own idiom, and of a bare LibTorch loop,
interleaved in one run: resnet20 (He et al. 4.2, option A) on 1x28x28 images, batch 64, SGD with momentum, equal
threads; orch and PyTorch crop and flip, the bare loop (bench/bare_torch.cpp) does nothing but train on one batch that
lies ready. Then bf16 against fp32 of orch: on the same task, and at the shape and batch of the network's paper
(3x32x32, 128), where convolutions are more of the time. The medians of ROUNDS rounds.

usage: /usr/bin/python3 bench/trainer.py BUILD [--strict]   (needs an importable torch)
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import torch
import torch.nn.functional as F
from torch import nn

build = os.path.abspath(sys.argv[1])
THREADS, BATCH, IMAGES, EPOCHS, ROUNDS = os.cpu_count(), 64, 4096, 3, 3
torch.set_num_threads(THREADS)


class Block(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.stride, self.extra = stride, outputs - inputs

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)), inplace=True)
        y = self.bn2(self.conv2(y))
        if self.extra:
            x = F.pad(x[:, :, ::2, ::2], (0, 0, 0, 0, self.extra // 2, self.extra - self.extra // 2))
        return F.relu(y.add_(x), inplace=True)


def resnet20():
    layers, width = [], 16
    for stage in range(3):
        for i in range(3):
            out = 16 << stage
            layers.append(Block(width, out, 2 if stage and not i else 1))
            width = out
    return nn.Sequential(nn.Conv2d(1, 16, 3, 1, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU(inplace=True),
                         *layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10))


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


def pytorch():
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


SMALL = f"dataset: fashion-mnist, per_class: {IMAGES // 10}, batch: {BATCH}"
PAPER = f"dataset: synthetic, image_size: 32, per_class: {IMAGES // 10}, batch: 128"


def orch(task, precision):
    with tempfile.TemporaryDirectory() as folder:
        recipe = os.path.join(folder, "t.recipe")
        with open(recipe, "w") as f:
            f.write(f"""format: 1
recipe: t
experiments:
  t:
    plugin: train
    with: {{ {task}, net: resnet20, epochs: {EPOCHS}, crop_pad: 4, flip: true,
            precision: {precision}, threads: {THREADS}, val_images: 10, milestones: [90%] }}
""")
        subprocess.run([f"{build}/orch", "run", recipe, "-q"], check=True, stdout=subprocess.DEVNULL)
        out = subprocess.run([f"{build}/orch", "show", "@last", "--json"], cwd=folder, capture_output=True, text=True)
        metrics = {m["name"]: m for m in json.loads(out.stdout)["metrics"]}
        return metrics["images_per_s"]["last"]


def bare():
    program = f"{build}/bench_bare_torch"
    out = subprocess.run([program, str(THREADS), str(BATCH), str(IMAGES // BATCH)], check=True, capture_output=True)
    return float(out.stdout)


subprocess.run(["cmake", "--build", build, "--target", "bench_bare_torch"], check=True, stdout=subprocess.DEVNULL)
contestants = {
    "orch": lambda: orch(SMALL, "fp32"),
    "PyTorch": pytorch,
    "bare LibTorch": bare,
    "orch bf16": lambda: orch(SMALL, "bf16"),
    "orch, 3x32x32": lambda: orch(PAPER, "fp32"),
    "orch bf16, 3x32x32": lambda: orch(PAPER, "bf16"),
}
rates = {name: [] for name in contestants}
for _ in range(ROUNDS):
    for name, measure in contestants.items():
        rates[name].append(measure())
middle = {name: statistics.median(values) for name, values in rates.items()}
for name, values in rates.items():
    print(f"{name:18} {middle[name]:6.0f} images/s ({min(values):.0f} to {max(values):.0f})")
below = False
for a, b, wanted in [
    ("orch", "PyTorch", 1),
    ("orch", "bare LibTorch", 0.97),
    ("orch bf16", "orch", None),
    ("orch bf16, 3x32x32", "orch, 3x32x32", 1.5),
]:
    ratio = middle[a] / middle[b]
    below = below or (wanted is not None and ratio < wanted)
    print(f"{a} / {b}: {ratio:.2f}" + (f" (asked for: {wanted})" if wanted is not None else ""))
print(f"torch {torch.__version__}, {THREADS} threads")
sys.exit("--strict" in sys.argv and below)
