#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Images a second of batch augmentation (plugin batchaug) beside two loops in PyTorch, interleaved in one run.

Each step has M = 8 copies of 64 synthetic 3x32x32 images, each cropped, mirrored and with a cutout of 16 of its own, and one
pass of resnet20 over all 512. Every contestant gets the same processors (--threads).

loader  torchvision's transforms in a Dataset, a DataLoader with one worker
tensor  whole batches as tensors: crop, flip and cutout by indices and a mask, SGD over all tensors at once; eager and
        compiled, plain and channels-last layout

usage: PYTHON bench/copies.py BUILD [--threads N] [--rounds N] [--only TEXT,TEXT] [--strict]
--only: contestants whose names have one of the texts, such as 'orch channels-last,loader', where time is short.
PYTHON: one that imports torch and torchvision, torch of the version that BUILD's adapter was built against. --strict: exit
status 1 when orch is below 1.5 of the loader or below 1.0 of the best form of the tensor loop."""
import argparse
import os
import statistics
import sys
import time

import torch
import torch.nn.functional as F
import trainer

COPIES, BATCH, IMAGES, SIDE, PAD, HOLE = 8, 64, 320, 32, 4, 16


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=os.path.abspath)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="")
    parser.add_argument("--strict", action="store_true")
    return parser.parse_args()


def cut(images, cy, cx):
    """Sets to 0 the square of HOLE around (cy, cx) of each image, clipped by the edges."""
    line = torch.arange(SIDE)
    inside = [(line >= c[:, None] - HOLE // 2) & (line < c[:, None] + HOLE // 2) for c in (cy, cx)]
    return images.masked_fill((inside[0][:, :, None] & inside[1][:, None, :])[:, None], 0)


class Samples(torch.utils.data.Dataset):
    """M transformed copies of a sample, as a user of torchvision writes it."""

    def __init__(self):
        from torchvision import transforms
        self.images = torch.randint(0, 256, (IMAGES, SIDE, SIDE, 3), dtype=torch.uint8).numpy()
        self.transform = transforms.Compose([
            transforms.ToPILImage(), transforms.RandomCrop(SIDE, padding=PAD), transforms.RandomHorizontalFlip(),
            transforms.ToTensor(), transforms.Normalize((0.5,) * 3, (0.25,) * 3)])

    def __len__(self):
        return IMAGES

    def __getitem__(self, i):
        copies = torch.stack([self.transform(self.images[i]) for _ in range(COPIES)])
        return cut(copies, *torch.randint(0, SIDE, (2, COPIES))), torch.full((COPIES,), i % 10)


def loader_loop():
    model = trainer.resnet20(3)
    optimizer = trainer.fastest_sgd(model)
    loader = torch.utils.data.DataLoader(Samples(), BATCH, shuffle=True, num_workers=1, persistent_workers=True)
    for epoch in range(2):  # the first warms up
        begin = time.perf_counter()
        for x, y in loader:
            F.cross_entropy(model(x.flatten(0, 1)), y.flatten()).backward()
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        seconds = time.perf_counter() - begin
    return COPIES * IMAGES / seconds


class Tensors(trainer.Expert):
    """The expert's loop of trainer.py with M copies and cutout."""

    def augmented(self, rows):
        images = super().augmented(rows)
        return cut(images, *torch.randint(0, SIDE, (2, len(rows))))

    def epoch(self, steps=None):
        order = torch.randperm(IMAGES)
        count = IMAGES // BATCH
        for step in range(steps or count):
            rows = order[step % count * BATCH:][:BATCH].repeat(COPIES)
            self.loss(self.augmented(rows), self.labels[rows]).backward()
            self.optimizer.step()
            self.optimizer.zero_grad(set_to_none=True)
        return count * BATCH * COPIES


def contestants(build, threads):
    task = trainer.Task("resnet20", "synthetic", 3, SIDE, BATCH, IMAGES)
    transforms = f'crop_pad: 0, transforms: ["crop {PAD}", flip, "cutout {HOLE}"], copies: {COPIES}'
    found = {}
    for layout, memory_format in trainer.LAYOUTS.items():
        settings = f"{task.recipe()}, layout: {layout.replace('-', '_')}, full_validation: false"
        found[f"orch {layout}"] = lambda settings=settings: trainer.orch(build, settings, threads, 2, "batchaug", transforms)
        for form in ["eager", "compiled"] if hasattr(torch, "compile") else ["eager"]:
            found[f"tensor {form} {layout}"] = Tensors(task, "fp32", memory_format, form == "compiled")
    found["loader"] = loader_loop
    return found


def best(rates, start):
    return max((key for key in rates if key.startswith(start)), default=None, key=lambda key: statistics.median(rates[key]))


def main():
    chosen, below = options(), False
    trainer.print_versions(chosen.build)
    trainer.use(chosen.threads)
    rates = trainer.medians({name: measure for name, measure in contestants(chosen.build, chosen.threads).items()
                             if any(text in name for text in chosen.only.split(","))}, chosen.rounds)
    mine = best(rates, "orch")
    for other, wanted in ((best(rates, "loader"), 1.5), (best(rates, "tensor"), 1.0)):
        if mine and other:
            ratio = statistics.median(a / b for a, b in zip(rates[mine], rates[other]))
            below = below or ratio < wanted
            print(f"{mine} / {other}: {ratio:.2f} (asked for: {wanted})")
    return chosen.strict and below


if __name__ == "__main__":
    sys.exit(main())
