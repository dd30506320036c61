#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Images a second of plugin detect beside the loop of someone who knows PyTorch, interleaved in one run.

Both train the same small detector (ssd-small:16, 10 classes and background) on 3x96x96 images with 1 to 4 objects, batch
16 or 32, SGD with momentum, flips. The expert's images lie resized in one tensor, a batch is flipped as a whole, and priors
are matched and negatives mined for the whole batch by tensor operations; orch reads the generated scenes of 96 to 160
pixels and resizes each image in each epoch. Each contestant has the same processors.

usage: PYTHON bench/detect.py BUILD [--threads N] [--rounds N] [--strict]
PYTHON: one that imports torch, of the version that BUILD's adapter was built against. --strict: exit status 1 when the
best of orch is below the best expert."""
import argparse
import os
import statistics
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn

from trainer import LAYOUTS, medians, orch, print_versions, use

CLASSES, PRIORS, SIDE, IMAGES, WIDTH, OBJECTS = 11, 6, 96, 640, 16, 4
CELLS = [12, 6, 3]


def conv_bn(inp, out, stride):
    return nn.Sequential(nn.Conv2d(inp, out, 3, stride, 1, bias=False), nn.BatchNorm2d(out), nn.ReLU(inplace=True))


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        layers, inp = [], 3
        for widths, stride in [(1, 2), (2, 2), (2, 1), (4, 2), (4, 1), (8, 2), (8, 1)]:
            layers.append(conv_bn(inp, widths * WIDTH, stride))
            inp = widths * WIDTH
        self.first, self.second = nn.Sequential(*layers[:5]), nn.Sequential(*layers[5:])
        self.third = nn.Sequential(nn.Conv2d(inp, 4 * WIDTH, 1), nn.ReLU(inplace=True),
                                   nn.Conv2d(4 * WIDTH, inp, 3, 2, 1), nn.ReLU(inplace=True))
        self.boxes = nn.ModuleList([nn.Conv2d(w, PRIORS * 4, 3, padding=1) for w in (4 * WIDTH, inp, inp)])
        self.scores = nn.ModuleList([nn.Conv2d(w, PRIORS * CLASSES, 3, padding=1) for w in (4 * WIDTH, inp, inp)])

    def forward(self, x):
        maps = [self.first(x)]
        maps.append(self.second(maps[0]))
        maps.append(self.third(maps[1]))
        flat = lambda head, values: torch.cat(
            [conv(m).permute(0, 2, 3, 1).reshape(m.size(0), -1, values) for conv, m in zip(head, maps)], 1)
        return flat(self.boxes, 4), flat(self.scores, CLASSES)


def make_priors():
    """Centre, width and height, relative to the image: sizes that grow evenly from 0.15 to 0.65."""
    rows = []
    for i, cells in enumerate(CELLS):
        small, large = 0.15 + 0.25 * i, (0.15 + 0.25 * i) ** 0.5 * (0.4 + 0.25 * i) ** 0.5
        sizes = [(small, small), (large, large)]
        for ratio in (2, 3):
            sizes += [(small * ratio ** 0.5, small / ratio ** 0.5), (small / ratio ** 0.5, small * ratio ** 0.5)]
        rows += [((x + 0.5) / cells, (y + 0.5) / cells, w, h) for y in range(cells) for x in range(cells) for w, h in sizes]
    return torch.tensor(rows).clamp(0, 1)


CENTRED = make_priors()
CORNERS = torch.cat([CENTRED[:, :2] - CENTRED[:, 2:] / 2, CENTRED[:, :2] + CENTRED[:, 2:] / 2], 1)


def match(boxes, labels):
    """N x M x 4 corners (labels 0: none) to N x P labels and N x P x 4 offsets."""
    low = torch.maximum(boxes[:, :, None, :2], CORNERS[None, None, :, :2])
    high = torch.minimum(boxes[:, :, None, 2:], CORNERS[None, None, :, 2:])
    both = (high - low).clamp_(min=0).prod(3)
    area = (boxes[..., 2:] - boxes[..., :2]).prod(2)[:, :, None] + (CORNERS[:, 2:] - CORNERS[:, :2]).prod(1) - both
    iou = (both / (area + 1e-5)).masked_fill_((labels == 0)[:, :, None], -1)
    best, which = iou.max(1)
    own = iou.max(2)[1]  # each object keeps its best prior
    for m in range(boxes.size(1)):
        real = (labels[:, m] > 0).nonzero()[:, 0]
        best[real, own[real, m]] = 2
        which[real, own[real, m]] = m
    target = labels.gather(1, which).masked_fill_(best < 0.5, 0)
    box = boxes.gather(1, which[:, :, None].expand(-1, -1, 4))
    centre, size = (box[..., :2] + box[..., 2:]) / 2, (box[..., 2:] - box[..., :2]).clamp(min=1e-6)
    return target, torch.cat([(centre - CENTRED[:, :2]) / CENTRED[:, 2:] / 0.1, (size / CENTRED[:, 2:]).log() / 0.2], 2)


def multibox_loss(locations, confidences, target, offsets):
    positive = target > 0
    with torch.no_grad():
        loss = -F.log_softmax(confidences, 2)[..., 0]
        loss[positive] = -float("inf")
        rank = loss.sort(1, descending=True)[1].sort(1)[1]
        chosen = positive | (rank < 3 * positive.sum(1, keepdim=True))
    count = positive.sum().clamp(min=1)
    return (F.cross_entropy(confidences[chosen], target[chosen], reduction="sum") +
            F.smooth_l1_loss(locations[positive], offsets[positive], reduction="sum")) / count


class Expert:
    """The last epoch's images a second; the first warms up."""

    def __init__(self, batch, memory_format):
        self.batch, self.format = batch, memory_format

    def __call__(self):
        torch.manual_seed(1)
        model = Detector().to(memory_format=self.format)
        optimizer = torch.optim.SGD(model.parameters(), 0.01, momentum=0.9, weight_decay=5e-4)
        images = torch.randint(0, 256, (IMAGES, 3, SIDE, SIDE), dtype=torch.uint8)
        labels = torch.randint(1, CLASSES, (IMAGES, OBJECTS))
        labels[torch.arange(OBJECTS)[None] >= torch.randint(1, OBJECTS + 1, (IMAGES, 1))] = 0
        corner, size = torch.rand(IMAGES, OBJECTS, 2) * 0.5, 0.15 + torch.rand(IMAGES, OBJECTS, 2) * 0.35
        boxes = torch.cat([corner, corner + size], 2)
        for _ in range(2):
            begin = time.perf_counter()
            for rows in torch.randperm(IMAGES).split(self.batch):
                x = ((images[rows].float() - 127) / 128).contiguous(memory_format=self.format)
                flips = torch.rand(len(rows)) < 0.5
                x[flips] = x[flips].flip(3)
                b = boxes[rows].clone()
                b[flips] = torch.stack([1 - b[flips][..., 2], b[flips][..., 1], 1 - b[flips][..., 0], b[flips][..., 3]], 2)
                target, offsets = match(b, labels[rows])
                loss = multibox_loss(*model(x), target, offsets)
                optimizer.zero_grad(set_to_none=True)
                loss.backward()
                optimizer.step()
            loss.item()
        return IMAGES / (time.perf_counter() - begin)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=os.path.abspath)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--strict", action="store_true")
    chosen, below = parser.parse_args(), False
    print_versions(chosen.build)
    use(chosen.threads)
    for batch in (16, 32):
        contestants = {}
        for layout, memory_format in LAYOUTS.items():
            settings = (f"dataset: fashion-scenes, train_images: {IMAGES}, test_images: 16, image_size: {SIDE}, batch: {batch}, "
                        f"net: 'ssd-small:{WIDTH}', layout: {layout.replace('-', '_')}, loader_threads: {min(1, chosen.threads - 1)}")
            contestants[f"batch {batch} orch {layout}"] = lambda s=settings: orch(chosen.build, s, chosen.threads, 2, "detect",
                                                                                  "transforms: [flip]")
            contestants[f"batch {batch} expert {layout}"] = Expert(batch, memory_format)
        rates = medians(contestants, chosen.rounds)
        best = {who: max((key for key in rates if f" {who} " in key), key=lambda key: statistics.median(rates[key]))
                for who in ("orch", "expert")}
        ratio = statistics.median(a / b for a, b in zip(rates[best["orch"]], rates[best["expert"]]))
        print(f"batch {batch}: {best['orch']} / {best['expert']}: {ratio:.2f}", flush=True)
        below = below or ratio < 1
    return chosen.strict and below


if __name__ == "__main__":
    sys.exit(main())
