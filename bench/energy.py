#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Watts and joules that others measured, beside what 'orch predict' answers.

ZEUS: a clone of github.com/ml-energy/zeus (Apache-2.0, read at 75a8b93), whose trace has a training's mean watts and seconds an epoch on four GPUs by
network, batch and power limit. BOARD: one of github.com/ml-energy/leaderboard (read at 0cd52da), with the watts of servers on H100 and B200.
A training is busy here unless it is of NCF, or of ShuffleNet with a batch below 256, whose host is slower than the GPU.
The Quadro RTX 6000 is asked as RTX 8000: the same chip and watts. The constants in features/predict/step_energy.c were chosen on ZEUS.

usage: /usr/bin/python3 bench/energy.py BUILD ZEUS BOARD
"""
import collections
import csv
import functools
import io
import json
import pathlib
import statistics
import subprocess
import sys

BUILD, ZEUS, BOARD = sys.argv[1:]
TRACE = "examples/research_reproducibility/zeus_nsdi23/trace/summary_power_"
GPUS = {"v100": "V100-PCIe-16GB", "a40": "A40", "p100": "P100-PCIe-16GB", "rtx6000": "Quadro-RTX-8000"}
IMAGES = 1281167


def read(repository, *words):
    return subprocess.run(["git", "-C", repository, *words], capture_output=True, text=True, check=True).stdout


@functools.cache
def asked(*words):
    out = subprocess.run([f"{BUILD}/orch", "predict", "--json", *words], capture_output=True, text=True, check=True)
    return json.loads(out.stdout)["predictions"][0]


def power(gpu, limit=None):
    return asked("--gpu", gpu, "--net", "bert-base", "--batch", "8", *(["--watts", str(limit)] if limit else []))


def line(what, rows):
    """rows: (measured, low, middle, high) each."""
    errors = [abs(mid / m - 1) for m, _, mid, _ in rows]
    inside = sum(low <= m <= high for m, low, _, high in rows)
    print(f"| {what} | {len(rows)} | {100 * statistics.mean(errors):.1f} % | {statistics.median(mid / m for m, _, mid, _ in rows):.2f} | "
          f"{100 * inside / len(rows):.0f} % |", flush=True)


def watts(row, gpu, limit=None):
    p = power(gpu, limit)
    return row, p["board_power_low_w"], p["board_power_w"], p["board_power_high_w"]


def trainings():
    by, joules, slower = collections.defaultdict(list), collections.defaultdict(list), []
    for name, gpu in GPUS.items():
        rows = list(csv.DictReader(io.StringIO(read(ZEUS, "show", f"HEAD:{TRACE}{name}.csv"))))
        most = max(float(r["power_limit"]) for r in rows)
        whole = {(r["dataset"], r["batch_size"], r["optimizer"]): float(r["time_per_epoch"]) for r in rows if float(r["power_limit"]) == most}
        for r in rows:
            batch, net, limit, drawn = int(r["batch_size"]), r["network"], float(r["power_limit"]), float(r["average_power"])
            is_busy = net != "ncf" and (net != "shufflenetv2" or batch >= 256)
            kind = "full" if limit == most else "limited"
            by[kind if is_busy else "waiting for the host"].append(watts(drawn, gpu, None if limit == most else int(limit)))
            if net == "resnet50" and limit == most:
                p = asked("--gpu", gpu, "--net", "resnet50", "--batch", str(batch), *([] if name == "a40" else ["--precision", "fp32"]))
                joules[gpu].append((drawn * float(r["time_per_epoch"]) * batch / IMAGES, p["step_energy_low_j"], p["step_energy_j"], p["step_energy_high_j"]))
            if net == "bert_base_uncased" and limit < most:
                ratio = power(gpu, int(limit))["step_s"] / power(gpu)["step_s"]
                slower.append((float(r["time_per_epoch"]) / whole[r["dataset"], r["batch_size"], r["optimizer"]], ratio / 1.26, ratio, ratio * 1.26))
    line("trainings, busy, without a limit: watts", by["full"])
    line("trainings, busy, limited: watts", by["limited"])
    line("trainings that wait for the host: watts", by["waiting for the host"])
    for gpu, rows in joules.items():
        line(f"ResNet-50 on {gpu}: joules a step", rows)
    line("ResNet-50, all: joules a step", sum(joules.values(), []))
    line("BERT: times slower by the limit (inside: a factor of 1.26)", slower)


def servers():
    by = collections.defaultdict(list)
    for path in read(BOARD, "ls-tree", "-r", "--name-only", "HEAD", "public/data/models").split():
        for c in json.loads(read(BOARD, "show", f"HEAD:{path}"))["configurations"]:
            if c.get("avg_power_watts"):
                by[pathlib.Path(path).stem.rsplit("__", 1)[1], c["gpu_model"]].append(watts(c["avg_power_watts"] / c["num_gpus"], c["gpu_model"]))
    for (task, gpu), rows in sorted(by.items()):
        line(f"servers, {task}, {gpu}: watts", rows)
    line("servers, all: watts", sum(by.values(), []))


print("| what | rows | mean error | median forecast/measured | inside |\n| --- | --- | --- | --- | --- |")
trainings()
servers()
