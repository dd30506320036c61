#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Peak memory of trainings as 'orch predict' forecasts it, over what milabench measured (H100, L40S): BERT-base with 512
tokens and masked-token head in fp32, tf32 and fp16, ResNet-50 and -152 with mixed precision; batches of 8 and more.
Nothing of it was fitted to these rows.

usage: python3 bench/memory_peaks.py BUILD DATA
"""
import collections
import csv
import json
import statistics
import subprocess
import sys

build, data = sys.argv[1:3]
BERT = ["--net", "bert-base-mlm", "--tokens", "512", "--precision"]
TASKS = {"bert-fp32": [*BERT, "fp32-ieee"], "bert-tf32": [*BERT, "tf32"], "bert-fp16": [*BERT, "fp16"],
         "resnet50": ["--net", "resnet50", "--precision", "fp16"], "resnet152-ddp-gpus": ["--net", "resnet152", "--precision", "fp16"]}
peaks = collections.defaultdict(list)
for r in csv.DictReader(open(f"{data}/milabench.csv")):
    if r["task"] in TASKS and r["peak_mem_mib"] and int(float(r["batch"])) >= 8:
        peaks[r["gpu"], r["task"], int(float(r["batch"]))].append(float(r["peak_mem_mib"]))
ratios = collections.defaultdict(list)
for (gpu, task, batch), measured in peaks.items():
    out = subprocess.run([f"{build}/orch", "predict", "--gpu", gpu, *TASKS[task], "--batch", str(batch), "--optimizer", "adam", "--json"],
                         capture_output=True, text=True)
    if out.returncode:
        sys.exit(out.stderr)
    said = json.loads(out.stdout)["predictions"][0]["memory_bytes"] / 2**20
    ratios[gpu, task].append(said / statistics.median(measured))
for key, values in sorted(ratios.items()):
    print(f"{key[0]:5} {key[1]:20} {len(values):3} batches: {min(values):.2f} to {max(values):.2f} of the measured peak, median {statistics.median(values):.2f}")
