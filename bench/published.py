#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Published speeds of trainings, to which no constant of orch was fitted, beside what 'orch predict' answers: bench/published.csv, a line a
figure: its source (below), the question's words, and the images or tokens that a GPU does in a second. Printed for each: published, forecast, their
quotient, the 90 % interval's factor, whether the figure is inside; then for each kind the mean error and the share inside.

Sources, each read on 29 November 2026: dle-resnet50: github.com/NVIDIA/DeepLearningExamples, PyTorch/Classification/ConvNets/resnet50v1.5/README.md
at 291f0d02 (NGC PyTorch 21.03); nanogpt: github.com/karpathy/nanoGPT, README.md (December 2022); torchtitan, torchtitan-h200:
github.com/pytorch/torchtitan, benchmarks/llama3_h100_202412_torchtitan.md at 31a17bfd and llama3_8b_h200_2025-06_torchtitan.md at bcdeaa37; nemo-24.07:
github.com/NVIDIA/NeMo, docs/source/performance/performance_summary.md at 070a0bb1; nemo-25.02, nemo-25.04: its page at docs.nvidia.com;
bridge-25.11: github.com/NVIDIA-NeMo/Megatron-Bridge, docs/performance-summary.md at 00b7660b; on 30 November: dle-tf-resnet50:
TensorFlow/Classification/ConvNets/resnet50v1.5/README.md at 1d4211fe (NGC TensorFlow 20.06); mlperf-5.1: github.com/mlcommons/training_results_v5.1
at 441d65f4, as bench/mlperf_rows.py prints it (layouts and precision: the submissions' config_*.sh). These programs fuse more than PyTorch alone does,
and their pipelines are interleaved ("stages a device"); orch's are not.

usage: /usr/bin/python3 bench/published.py BUILD [--markdown]
"""
import collections
import csv
import json
import math
import pathlib
import statistics
import subprocess
import sys

build = sys.argv[1]
bar = "| " if "--markdown" in sys.argv else ""


def line(*cells, widths=(15, 15, 16, 54, 10, 10, 6, 7, 6)):
    print(bar + (" | " if bar else "  ").join(f"{c:{w}}" for c, w in zip(cells, widths)) + (" |" if bar else ""))


def kind_of(row):
    if row["unit"] == "images":
        return "images"
    experts = "ep=" in row["words"]
    return ("experts, " if experts else "transformers, ") + next((p for p in ("fp8", "fp4") if p in row["words"]), "16 bits")


logs, inside = collections.defaultdict(list), collections.defaultdict(list)
line("source", "GPU", "network", "question", "published", "forecast", "ratio", "factor", "inside")
if bar:
    line(*["---"] * 9)
for row in csv.DictReader(open(pathlib.Path(__file__).with_suffix(".csv"))):
    net, words = row["net"].replace(";", ","), row["words"].split()
    out = subprocess.run([f"{build}/orch", "predict", "--gpu", row["gpu"], "--net", net, *words, "--json"], capture_output=True, text=True)
    question, published = row["words"].replace("--", ""), float(row["published"])
    if out.returncode:
        line(row["source"], row["gpu"], net, question, f"{published:.0f}", out.stderr.split("\n")[0])
        logs[kind_of(row)].append(None)
        continue
    p = json.loads(out.stdout)["predictions"][-1]
    workers = int(row["gpus"])
    forecast = (p["images_per_s"] if row["unit"] == "images" else p["tokens_per_s"]) / workers
    low, high = forecast * p["step_s"] / p["step_high_s"], forecast * p["step_s"] / p["step_low_s"]
    is_inside = low <= published <= high
    logs[kind_of(row)].append(math.log(forecast / published))
    inside[kind_of(row)].append(is_inside)
    line(row["source"], row["gpu"], net, question, f"{published:.0f}", f"{forecast:.0f}", f"{forecast / published:.2f}", f"{math.sqrt(high / low):.2f}",
         "yes" if is_inside else "no")
print()
for kind, values in logs.items():
    own = [x for x in values if x is not None]
    print(f"{kind}: {len(own)} of {len(values)} answered, geometric mean of forecast / published {math.exp(statistics.mean(own)):.2f}, "
          f"mean error {100 * statistics.mean(abs(math.expm1(x)) for x in own):.0f} %, {sum(inside[kind])} of {len(own)} inside")
