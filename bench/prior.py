#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fits the table of predictors/steps/prior.c to published measurements of training steps.

For each architecture and precision: the share of the peak and of the memory bandwidth that frameworks
reached, and for all the time of an operation beside its work, so that the roofline of lib/steptime/roofline.c (its sums are
repeated here from 'orch net show --json') comes nearest in mean |log(predicted / measured)|. The spread
is that of rows whose network was left out of the fit (leave one network out; where there is but one
network, leave one GPU out), so it holds for networks that were not seen.

usage: /usr/bin/python3 bench/prior.py BUILD DATA      (DATA: a folder with the measurements' CSV files)
"""
import csv
import functools
import itertools
import json
import math
import os
import statistics
import subprocess
import sys

import numpy

build, data = sys.argv[1:3]
# name in the measurements: our name of the same network
NETS = {"resnet18": "resnet18", "resnet34": "resnet34", "resnet50": "resnet50", "resnet101": "resnet101",
        "resnet152": "resnet152", "vgg11": "vgg11", "vgg13": "vgg13", "vgg16": "vgg16", "vgg19": "vgg19",
        "vgg11_bn": "vgg11_bn", "vgg13_bn": "vgg13_bn", "vgg16_bn": "vgg16_bn", "alexnet": "alexnet",
        "densenet121": "densenet121", "densenet169": "densenet169", "squeezenet1_0": "squeezenet1_0",
        "resnext50_32x4d": "resnext50_32x4d", "wide_resnet50_2": "wide_resnet50_2",
        "inception_v3": "inception_v3", "googlenet": "googlenet", "efficientnet_b0": "efficientnet_b0"}


@functools.lru_cache(None)
def gpu(name):
    out = subprocess.run([f"{build}/orch", "gpu", "show", name, "--json"], capture_output=True, text=True)
    if out.returncode:
        return None
    facts = {f["what"]: f["value"] for f in json.loads(out.stdout)["facts"]}
    arch = facts["architecture"].split(",")[0]
    fp16 = facts["peak fp16 (tensor cores)"] or max(facts["peak fp16"] or 0, facts["peak fp32"])
    return dict(arch=arch, fp32=facts["peak fp32"] * 1e12, tf32=(facts["peak tf32"] or 0) * 1e12,
                fp16=(fp16 or 0) * 1e12, bandwidth=facts["memory bandwidth"] * 1e9)


KINDS = {"batchnorm2d": (1.5, 2.5), "layernorm": (1, 2.5), "lrn": (1, 2.5)}
ROUNDS_OF_OTHERS = {"relu": 1.5, "relu6": 1.5, "tanh": 1.5, "sigmoid": 1.5, "silu": 1.5, "gelu": 1.5, "softmax": 1.5,
                    "maxpool2d": 1.5, "avgpool2d": 1.5, "adaptive_avgpool2d": 1.5}


@functools.lru_cache(None)
def layers(net, side):
    """Columns: forward operations, bytes of weights, bytes of values an image, rounds over memory forward and
    backward, passes over the operations backward; and the number of parameters."""
    out = subprocess.run([f"{build}/orch", "net", "show", net, "--input", f"3x{side}x{side}", "--json"],
                         capture_output=True, text=True, check=True)
    shown = json.loads(out.stdout)
    rows = []
    for i, layer in enumerate(shown["layers"]):
        op = layer["type"].split()[0]
        if op == "input":
            continue
        weights = 4 * layer["params"]
        if layer["multiply-adds"]:
            forward, backward, passes = 1, (1 if i == 1 else 2), (1 if i == 1 else 2)
        else:
            forward, backward = KINDS.get(op, (1, ROUNDS_OF_OTHERS.get(op, 1)))
            passes = backward
        rows.append((layer["ops"], weights, layer["read"] + layer["written"] - weights, forward, backward, passes))
    return numpy.array(rows, dtype=float), shown["params"]


def step_s(row, compute, memory, launch):
    spec = gpu(row["gpu"])
    columns, params = layers(row["net"], row["side"])
    ops, weights, values, forward, backward, passes = columns.T
    peak, band = spec[row["precision"]] * compute, spec["bandwidth"] * memory
    flops, moved = ops * row["batch"], (weights + values * row["batch"]) * (0.5 if row["precision"] == "fp16" else 1)
    floor = numpy.where(flops + moved > 0, launch, 0)
    total = (numpy.maximum(flops / peak, moved * forward / band) + floor).sum()
    total += (numpy.maximum(flops * passes / peak, moved * backward / band) + floor).sum()
    return total + max(2 * params * 2 / peak, 4 * params * 5 / band) + launch


def paleo_s(row):
    """PALEO's estimate of the same step at a PPP of 1."""
    out = subprocess.run(
        [f"{build}/orch", "paleo", "--net", row["net"], "--gpu", row["gpu"], "--input",
         f"3x{row['side']}x{row['side']}", "--batch", str(row["batch"]), "--precision", row["precision"],
         "--ppp-comp", "1", "--json"], capture_output=True, text=True, check=True)
    return json.loads(out.stdout)["steps"][0]["total_ms"] / 1e3


def read(name):
    path = os.path.join(data, name)
    return list(csv.DictReader(open(path))) if os.path.exists(path) else []


def add(rows, source, gpu_name, net, batch, side, precision, ms):
    spec = gpu(gpu_name)
    if net in NETS and spec and batch >= 1:
        if precision == "fp32" and spec["tf32"]:
            precision = "tf32"  # the default of PyTorch's and TensorFlow's convolutions from Ampere on
        if spec[precision]:
            rows.append(dict(source=source, gpu=gpu_name, arch=spec["arch"], net=NETS[net], batch=batch, side=side,
                             precision=precision, s=ms / 1e3))


def collect():
    rows = []
    for r in read("ryujaehun_pytorch.csv"):
        if r["mode"] == "train" and r["gpus"] == "1" and r["precision"] in ("float", "half"):
            add(rows, "ryujaehun", r["gpu"], r["net"], int(r["batch_total"]), 224,
                "fp32" if r["precision"] == "float" else "fp16", float(r["ms_median"]))
    for r in read("jcjohnson_cnn.csv"):
        if r["cudnn"] != "none" and "CPU" not in r["gpu"]:
            add(rows, "jcjohnson", r["gpu"], r["net"], int(r["batch"]), int(r["img"]), "fp32", float(r["total_ms"]))
    for r in read("tf_benchmarks.csv"):
        if r["gpus"] == "1" and r["data"] == "synthetic":
            add(rows, "tf_benchmarks", r["gpu"], r["net"], int(r["batch_per_gpu"]),
                299 if r["net"] == "inception_v3" else 224, "fp32", float(r["step_ms"]))
    for r in read("u39kun_frameworks.csv"):
        if r["mode"] == "train" and "CPU" not in r["gpu"] and "PyTorch" in r["framework"]:
            add(rows, "u39kun", r["gpu"], r["net"], int(r["batch"]), int(r["img"]), "fp" + r["bits"], float(r["ms"]))
    for r in read("soumith_convnet.csv"):
        if "CuDNN" in r["library"] and r["bits"] == "32":
            add(rows, "soumith", r["gpu"], r["net"], int(r["batch"]), int(r["img"]), "fp32", float(r["total_ms"]))
    for r in read("timm_train.csv"):
        if r["layout"] == "nchw":
            add(rows, "timm", r["gpu"], r["net"], int(r["batch"]), int(r["img"]), "fp16", float(r["step_ms"]))
    for r in read("lambda_train.csv"):
        if r["task"] == "resnet50" and r["gpus"] == "1" and r["batch_per_gpu"]:
            batch = int(float(r["batch_per_gpu"]))
            add(rows, "lambda", r["gpu"], "resnet50", batch, 224, r["precision"],
                1e3 * batch / float(r["throughput"]))
    return rows


def error(rows, shape):
    """Mean over networks, so that one with many rows does not speak for all."""
    by_net = {}
    for r in rows:
        by_net.setdefault(r["net"], []).append(abs(math.log(step_s(r, *shape) / r["s"])))
    return statistics.mean(statistics.mean(v) for v in by_net.values())


COMPUTE = [0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.9, 1.0]
MEMORY = [0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
LAUNCH = [0, 1e-5, 2e-5, 3e-5, 4e-5, 5e-5, 6e-5, 7e-5, 8e-5]


def fit(rows, launch):
    return min(itertools.product(COMPUTE, MEMORY, [launch]), key=lambda shape: error(rows, shape))


def spread(rows, launch):
    """Root mean square of the log errors of rows left out by network (by GPU, where one network)."""
    key = "net" if len({r["net"] for r in rows}) > 1 else "gpu"
    groups = sorted({r[key] for r in rows})
    errors = []
    for group in groups:
        shape = fit([r for r in rows if r[key] != group], launch)
        errors += [math.log(step_s(r, *shape) / r["s"]) for r in rows if r[key] == group]
    return math.sqrt(statistics.mean(e * e for e in errors)), key


rows = collect()
if not rows:
    sys.exit(f"no measurements in '{data}'")
# Neighbours of one design with few measurements of their own share a class.
CLASSES = [("Kepler",), ("Maxwell",), ("Pascal",), ("Volta", "Turing"), ("Ampere", "Ada")]
groups = []
for archs, precision in itertools.product(CLASSES, ["fp32", "tf32", "fp16"]):
    mine = [r for r in rows if r["arch"] in archs and r["precision"] == precision]
    if mine:
        groups.append((archs, precision, mine))
# What an operation takes beside its work is the framework's and the host's: one figure for all classes.
launch = min(LAUNCH, key=lambda t: statistics.mean(error(mine, fit(mine, t)) for _, _, mine in groups))
print(f"an operation of a pass: {launch * 1e6:.0f} us beside its work")
print("class           precision  rows nets gpus  compute memory  mean|log|  left out rms  PPP   PPP of PALEO  sources")
for archs, precision, mine in groups:
    shape = fit(mine, launch)
    out, key = spread(mine, launch)
    ppp = statistics.mean(step_s(r, 1, 1, 0) / r["s"] for r in mine)
    paleo = statistics.mean(paleo_s(r) / r["s"] for r in mine)
    sources = ", ".join(f"{s} {sum(r['source'] == s for r in mine)}" for s in sorted({r["source"] for r in mine}))
    print(f"{'+'.join(archs):15} {precision:9} {len(mine):5} {len({r['net'] for r in mine}):4} "
          f"{len({r['gpu'] for r in mine}):4}  {shape[0]:7.2f} {shape[1]:6.2f}  "
          f"{error(mine, shape):9.3f}  {out:8.3f} ({key})  {ppp:.2f}  {paleo:.2f}  {sources}", flush=True)
