#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of whole transformers as 'orch predict --model transferred' forecasts them, beside public measurements that its
kernels were not fitted to: NeuSight's (fp32, inference and training, also compiled), and trainings of BERT with fp32,
tf32 and fp16 on eleven further GPUs (Lambda Labs, milabench; batches of 24 and more). They are forecast with attention
written out; NeuSight's and Lambda's ran so, milabench's (H100, L40S) perhaps in one kernel, as their memory suggests. The constants
of tensor cores were fitted to Lambda's rows among others (bench/distil_tensor.py, which also leaves out each of these GPUs).

Printed by board: rows, mean error, the median's log, and 90 % of the logs around it. Then, of both tables and by precision, the 90 % interval that the
chips ask for, as in bench/distil.py: offsets of a source's rows on a chip, of which a new one is as far off as Student's t says, and the upper
quartile of the spreads of those with six rows or more; the share of the rows inside it, with each chip left out of its
interval, as the mean over chips; and the share inside the interval that orch gives.

usage: /usr/bin/python3 bench/transformer_steps.py BUILD DATA
"""
import collections
import csv
import json
import math
import subprocess
import sys

import numpy
from scipy.stats import t

build, data = sys.argv[1:3]
NETS = {"bert_large": "bert-large-mlm", "gpt2_large": "gpt2-large", "gpt3_27": "gpt:32,2560,32", "opt_13": "gpt:24,2048,32"}
CHIPS = {"A100-PCIE-40GB": "A100", "A100-PCIE-80GB": "A100", "A100-SXM4-40GB": "A100", "MI250": "MI210"}
BERT = {"bert-fp32": "fp32-ieee", "bert-tf32": "tf32", "bert-fp16": "fp16"}


def read(name):
    return csv.DictReader(open(f"{data}/{name}.csv"))


def chip_of(gpu, known={}):
    if gpu not in known:
        out = subprocess.run([f"{build}/orch", "gpu", "show", gpu, "--json"], capture_output=True, text=True)
        known[gpu] = next(f["value"] for f in json.loads(out.stdout)["facts"] if f["what"] == "chip")
    return known[gpu]


def step_s(gpu, net, tokens, batch, precision, *more):
    words = [f"{build}/orch", "predict", "--gpu", gpu, "--net", net, "--tokens", str(tokens), "--batch", str(batch), "--precision",
             precision, "--model", "transferred", "--attention", "eager", *more, "--json"]
    out = subprocess.run(words, capture_output=True, text=True)
    if out.returncode:
        sys.exit(out.stderr)
    said = json.loads(out.stdout)["predictions"][0]
    return said["step_s"], (chip_of(said["gpu"]), said["precision"], math.log(said["step_high_s"] / said["step_s"]))


def neusight():
    for r in read("neusight_e2e"):
        if r["net"] in NETS and r["variant"] in ("", "fusion"):
            more = ["--forward-only"] if r["mode"] == "inf" else ["--optimizer", "sgd"]
            more += ["--compile"] if r["variant"] else []
            s, said = step_s(r["gpu"], NETS[r["net"]], r["seq"], r["batch"], "fp32-ieee", *more)
            yield CHIPS.get(r["gpu"], r["gpu"]), r["mode"], math.log(s / float(r["e2e_ms"]) * 1e3), ("neusight", *said)


def bert():
    for r in read("lambda_train"):
        if r["task"] == "bert_base_squad" and r["gpus"] == "1" and r["batch_per_gpu"]:
            batch = int(float(r["batch_per_gpu"]))
            s, said = step_s(r["gpu"], "bert-base", 384, batch, r["precision"], "--optimizer", "adam")
            yield r["gpu"], r["precision"], math.log(s * float(r["throughput"]) / batch), ("lambda", *said)
    seen = collections.defaultdict(list)
    for r in read("milabench"):
        if r["task"] in BERT and int(float(r["batch"])) >= 24:
            seen[r["gpu"], BERT[r["task"]], int(float(r["batch"]))].append(float(r["items_per_s"]))
    for (gpu, precision, batch), rates in seen.items():
        s, said = step_s(gpu, "bert-base-mlm", 512, batch, precision, "--optimizer", "adam")
        yield gpu, precision, math.log(s * numpy.median(rates) / batch), ("milabench", *said)


def show(title, rows):
    by = collections.defaultdict(list)
    for chip, _, e, _ in rows:
        by[chip].append(e)
    print(title)
    offsets, spreads = [], []
    for chip, e in sorted(by.items()):
        e = numpy.array(e)
        offsets.append(numpy.median(e))
        spreads.append(numpy.quantile(abs(e - offsets[-1]), 0.9))
        print(f"  {chip:18} {len(e):3} rows  mean error {100 * abs(numpy.expm1(e)).mean():5.1f} %  offset {offsets[-1]:+.2f}  spread {spreads[-1]:.2f}")
    print(f"  mean over these {100 * numpy.mean([abs(numpy.expm1(numpy.array(e))).mean() for e in by.values()]):.1f} %")
    for _, mode in sorted({(0, m) for _, m, _, _ in rows}):
        e = numpy.array([x for _, m, x, _ in rows if m == mode])
        print(f"    {mode}: {len(e)} rows, mean error {100 * abs(numpy.expm1(e)).mean():.1f} %")


def half_width(cells):
    offsets = [numpy.median(v) for v in cells.values()]
    spreads = [numpy.quantile(abs(v - numpy.median(v)), 0.9) for v in cells.values() if len(v) >= 6]
    n = len(offsets)
    return math.hypot(t.ppf(0.95, n) * math.sqrt(1 + 1 / n) * math.sqrt(sum(b * b for b in offsets) / n), numpy.quantile(spreads, 0.75))


def show_intervals(rows):
    for what, precisions in (("all", None), ("fp32", ("fp32", "fp32-ieee")), ("tensor cores", ("tf32", "fp16"))):
        cells, halves = collections.defaultdict(list), collections.defaultdict(list)
        for _, _, e, (source, chip, precision, half) in rows:
            if precisions is None or precision in precisions:
                cells[source, chip].append(e)
                halves[chip].append(abs(e) <= half)
        cells, inside = {k: numpy.array(v) for k, v in cells.items()}, collections.defaultdict(list)
        for k, v in cells.items():
            inside[k[1]] += list(abs(v) <= half_width({o: w for o, w in cells.items() if o[1] != k[1]}))
        shares = [numpy.mean(v) for v in inside.values()]
        print(f"intervals, {what:12} {len(cells):2} groups, {len(inside)} chips: a factor of {math.exp(half_width(cells)):.2f}, {100 * numpy.mean(shares):.1f} % inside, mean over chips left out "
              f"({100 * min(shares):.0f} to {100 * max(shares):.0f} %); inside orch's {100 * numpy.mean([numpy.mean(v) for v in halves.values()]):.1f} %")


if __name__ == "__main__":
    neusights, berts = list(neusight()), list(bert())
    show("NeuSight's transformers, fp32", neusights)
    show("BERT on further GPUs", berts)
    show_intervals(neusights + berts)
