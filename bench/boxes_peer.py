#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Processor time of the multibox loss with its gradients and of the detections of a batch: orch (build/bench_boxes_speed) beside
PyTorch on one thread, in turns in one run. PyTorch's side is written with whole tensors, as one would: matching by one table of
overlaps, negatives by a sort, gradients by autograd, suppression by rows. usage: boxes_peer.py [BUILD [ROUNDS]]"""
import statistics
import subprocess
import sys
import time

import torch
import torch.nn.functional as F

IMAGES, OBJECTS, CLASSES, PRIORS = 32, 6, 21, 3000
SCORE, IOU, CANDIDATES = 0.01, 0.45, 200


def corners(boxes):
    return torch.cat([boxes[..., :2] - boxes[..., 2:] / 2, boxes[..., :2] + boxes[..., 2:] / 2], -1)


def overlaps(a, b):
    size = (torch.minimum(a[..., 2:], b[..., 2:]) - torch.maximum(a[..., :2], b[..., :2])).clamp(min=0)
    both = size[..., 0] * size[..., 1]
    area = lambda x: (x[..., 2] - x[..., 0]) * (x[..., 3] - x[..., 1])
    return both / (area(a) + area(b) - both + 1e-5)


def match(boxes, labels, priors):
    iou = overlaps(boxes[None], corners(priors)[:, None])
    best, which = iou.max(1)
    own = iou.argmax(0)
    which[own] = torch.arange(len(boxes))
    best[own] = 2
    label = labels[which] * (best >= 0.5)
    box = boxes[which]
    centre, size = (box[:, :2] + box[:, 2:]) / 2, box[:, 2:] - box[:, :2]
    offset = torch.cat([(centre - priors[:, :2]) / priors[:, 2:] / 0.1, (size / priors[:, 2:]).log() / 0.2], 1)
    return label, offset


def loss(locations, confidences, objects, priors):
    targets = [match(boxes, labels, priors) for boxes, labels in objects]
    label, offset = torch.stack([t[0] for t in targets]), torch.stack([t[1] for t in targets])
    positive = label > 0
    with torch.no_grad():
        background = -F.log_softmax(confidences, 2)[..., 0]
        background[positive] = -float("inf")
        order = background.argsort(1, descending=True).argsort(1)
        counted = positive | (order < 3 * positive.sum(1, keepdim=True))
    confidence = F.cross_entropy(confidences[counted], label[counted], reduction="sum")
    location = F.smooth_l1_loss(locations[positive], offset[positive], reduction="sum")
    ((confidence + location) / positive.sum()).backward()


def detect(locations, confidences, priors):
    scores = F.softmax(confidences, 1)
    centred = torch.cat([locations[:, :2] * 0.1 * priors[:, 2:] + priors[:, :2], (locations[:, 2:] * 0.2).exp() * priors[:, 2:]], 1)
    boxes, kept = corners(centred), 0
    for c in range(1, CLASSES):
        found = (scores[:, c] > SCORE).nonzero()[:, 0]
        found = found[scores[found, c].argsort(descending=True)[:CANDIDATES]]
        while len(found):
            kept += 1
            found = found[1:][overlaps(boxes[found[1:]], boxes[found[0]]) <= IOU]
    return kept


def main():
    build, rounds = (sys.argv[1:2] or ["build"])[0], int((sys.argv[2:3] or [5])[0])
    torch.set_num_threads(1)
    torch.manual_seed(1)
    priors = torch.rand(PRIORS, 4) * 0.5 + 0.2
    size = torch.rand(IMAGES, OBJECTS, 2) * 0.6 + 0.1
    at = torch.rand(IMAGES, OBJECTS, 2) * (1 - size)
    objects = [(torch.cat([a, a + s], 1), torch.randint(1, CLASSES, (OBJECTS,))) for a, s in zip(at, size)]
    locations = (torch.rand(IMAGES, PRIORS, 4) * 4 - 2).requires_grad_()
    confidences = (torch.rand(IMAGES, PRIORS, CLASSES) * 4 - 2).requires_grad_()
    parts = {"loss": lambda: loss(locations, confidences, objects, priors),
             "detections": lambda: [detect(a, b, priors) for a, b in zip(locations.detach(), confidences.detach())]}
    times = {(who, part): [] for who in ("orch", "PyTorch") for part in parts}
    for _ in range(rounds):
        lines = subprocess.run([f"{build}/bench_boxes_speed", str(IMAGES), str(OBJECTS), str(CLASSES)], check=True, stdout=subprocess.PIPE, text=True).stdout
        for part, run in parts.items():
            times["orch", part].append(float(next(line for line in lines.splitlines() if line.startswith(part)).split()[-2]))
            start = time.process_time()
            run()
            times["PyTorch", part].append(1e3 * (time.process_time() - start))
    for part in parts:
        orch, peer = (statistics.median(times[who, part]) for who in ("orch", "PyTorch"))
        print(f"{part}: orch {orch:.1f} ms, PyTorch {torch.__version__} {peer:.1f} ms: {peer / orch:.1f} times")


main()
