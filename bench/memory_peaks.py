#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Peak memory of trainings as 'orch predict' forecasts it, over what milabench measured (H100, L40S): BERT-base with 512
tokens and masked-token head in fp32, tf32 and fp16, ConvNeXt-large in the same, ResNet-50 and -152 with mixed precision, T5-small with 1024 tokens on both sides and mixed precision. Lengths and
precisions are those of milabench's benchmarks/huggingface/bench/models.py and config/training.yaml (faf3923).

Printed: forecast over measured peak for batches of 8 and more; then, on cards with the memory of those that are sold (8 to 80 GB), how often
'fits' is right, and how far the largest batch is from that which a line through the measured peaks says. What a card leaves to programs is
decimal, and a batch fits when its measured peak does. Nothing is fitted to these rows but what bench/results says.

usage: python3 bench/memory_peaks.py BUILD DATA
"""
import collections
import csv
import json
import os
import statistics
import subprocess
import sys
import tempfile

import numpy

build, data = sys.argv[1:3]
BERT = ["--net", "bert-base-mlm", "--tokens", "512", "--precision"]
CONVNEXT = ["--net", "convnext_large", "--precision"]
RESNET152 = ["--net", "resnet152", "--precision", "fp16"]
TASKS = {"bert-fp32": [*BERT, "fp32-ieee"], "bert-tf32": [*BERT, "tf32"], "bert-fp16": [*BERT, "fp16"],
         "convnext_large-fp32": [*CONVNEXT, "fp32-ieee"], "convnext_large-tf32": [*CONVNEXT, "tf32"], "convnext_large-fp16": [*CONVNEXT, "fp16"],
         "t5": ["--net", "t5-small", "--tokens", "1024", "--precision", "fp16", "--attention", "eager"],
         "resnet50": ["--net", "resnet50", "--precision", "fp16"], "resnet152-ddp-gpus": [*RESNET152, "--workers", "8"], "lightning": RESNET152}
CARDS = [8, 11, 12, 16, 24, 32, 40, 48, 80]  # GB


def predict(gpu, task, *more):
    out = subprocess.run([f"{build}/orch", "predict", "--gpu", gpu, *TASKS[task], "--optimizer", "adam", "--json", *more], capture_output=True, text=True)
    if out.returncode:
        sys.exit(out.stderr)
    return json.loads(out.stdout)["predictions"][0]


def read():
    peaks = collections.defaultdict(list)
    for r in csv.DictReader(open(f"{data}/milabench.csv")):
        if r["task"] in TASKS and r["peak_mem_mib"] and int(float(r["batch"])) >= 8:
            peaks[r["gpu"], r["task"], int(float(r["batch"]))].append(float(r["peak_mem_mib"]))
    curves = collections.defaultdict(dict)
    for (gpu, task, batch), measured in peaks.items():
        curves[gpu, task][batch] = statistics.median(measured)
    return curves


def print_ratios(curves):
    for (gpu, task), curve in sorted(curves.items()):
        ratios = [predict(gpu, task, "--batch", str(b))["memory_bytes"] / 2**20 / peak for b, peak in curve.items()]
        print(f"{gpu:5} {task:20} {len(ratios):3} batches: {min(ratios):.2f} to {max(ratios):.2f} of the measured peak, median {statistics.median(ratios):.2f}")


def print_fits(curves):
    right, off = collections.defaultdict(list), []
    for (gpu, task), curve in sorted(curves.items()):
        slope, start = numpy.polyfit(list(curve), list(curve.values()), 1)
        for card in CARDS:
            room = card * 1e9 / 2**20
            for batch, peak in curve.items():
                right[task].append(predict(f"card-{card}", task, "--batch", str(batch))["fits"] == (peak <= room))
            most = (room - start) / slope
            if most >= 8 and most <= 1.2 * max(curve):  # not far beyond what was measured
                off.append((abs(predict(f"card-{card}", task)["largest_batch"] / numpy.floor(most) - 1), gpu, task, card))
    every = [x for v in right.values() for x in v]
    for task, v in right.items():
        print(f"fits, {task:20} right in {100 * numpy.mean(v):5.1f} % of {len(v)} cases")
    print(f"fits: right in {100 * numpy.mean(every):.1f} % of {len(every)} cases")
    errors = [x[0] for x in off]
    print(f"largest batch: {100 * statistics.median(errors):.1f} % off in the median of {len(errors)} cases, worst {100 * max(off)[0]:.1f} % ({' '.join(map(str, max(off)[1:]))} GB)")


with tempfile.NamedTemporaryFile("w", suffix=".yaml") as cards:
    cards.write("gpus:\n" + "".join(f"  - {{ name: card-{c}, like: H100-SXM5, memory_gb: {c * 1e9 / 2**30 / 0.987:.4f} }}\n" for c in CARDS))
    cards.flush()
    os.environ["ORCH_HARDWARE"] = cards.name
    print_ratios(read())
    print_fits(read())
