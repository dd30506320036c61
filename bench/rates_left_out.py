#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""How networks' steps change from GPU to GPU, in a few lines of Python beside predictors/features/row_device.c: which part
of a forecast for a GPU that was not measured is off by how much.

1. timm's uncompiled inference, each of its two GPUs from the other: times follow powers of bandwidth, peak and watts; then
   with the rows of the same network and image size, with software as an effect of version and layout, and with boosting
   (scikit-learn). Rows without counts are left out of boosting, or have those of the same network. The interval is the
   factor that 90 % of the known GPU's rows stay within when networks are left out, with an offset of a new chip of 0.109
   (logarithms, Student's t of 7).
2. 16-bit steps of four sources: how far GPUs lie from the law (root mean square), by the part of the peak beyond fp32
   that counts, and with all of half the peak for workstation and server boards with chips for graphics.

usage: PYTHON bench/rates_left_out.py DATA
"""
import collections
import csv
import math
import os
import re
import sys

import numpy

DATA = sys.argv[1]
GPUS_FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../share/hardware/gpus.csv")
OTHER_NAMES = {"A100 40GB PCIe": "A100-PCIe-40GB", "A100 80GB PCIe": "A100-PCIe-80GB", "A100 80GB SXM4": "A100-SXM4-80GB", "V100 16GB": "V100-SXM2-16GB",
               "V100": "V100-SXM2-16GB"}
CHIP_OFFSET = 0.109 * 1.895  # of 30 folds, at 90 %


def table(path):
    with open(path) as f:
        return list(csv.DictReader(f))


def plain(name):
    return name.lower().replace("-", " ")


SPECS = {plain(n): r for r in table(GPUS_FILE) for n in [r["name"], *r["aliases"].split(",")]}


def real(text):
    return float(text) if text else math.nan


def law(gpu, gmacs, macts, part):
    """logarithm of how fast a GPU is"""
    s = SPECS[plain(OTHER_NAMES.get(gpu, gpu))]
    fp32, bandwidth, watts = math.log(float(s["fp32_tflops"])), math.log(float(s["bandwidth_gbs"])), math.log(real(s["watts"]) if s["watts"] else 250)
    peak = max(fp32, math.log(float(s["tensor16_tflops"]))) if s["tensor16_tflops"] else fp32
    if part == "half":  # GeForce cards have half of the rate that other boards with such chips have
        full = re.match("TU|GA10[2-9]|AD|GB2", s["chip"]) and not re.match("RTX-[2-5]0|GTX", s["name"])
        peak, part = max(fp32, peak - (math.log(2) if full else 0)), 1
    peak = fp32 + part * (peak - fp32)
    known = gmacs > 0 and macts > 0
    lean = min(1, max(-1, math.log(1e3 * gmacs / macts / 370) / math.log(4))) if known else 0
    return 0.6 * bandwidth + 0.25 * peak + 0.2 * lean * (peak - bandwidth) + 0.2 * watts


# ---- 1. timm ----------------------------------------------------------------------------------------------------------


def net_of(row):
    return row["net"], row["img"]


def boosted(rows, which, z, asked):
    from sklearn.ensemble import HistGradientBoostingRegressor
    columns = [[math.log(max(real(r[k]), 1e-3)) for k in ("gmacs", "macts_M", "params_M", "img")] + [float(r["torch"]), r["layout"] == "nhwc"] for r in rows]
    x = numpy.array(columns, dtype=float)
    which = [i for i in which if not math.isnan(x[i, 0])]
    model = HistGradientBoostingRegressor(loss="absolute_error", max_iter=400, learning_rate=0.08, min_samples_leaf=5, random_state=0)
    return model.fit(x[which], z[which]).predict(x[asked])


def matched(rows, which, z, asked):
    """mean of the network's rows, less what their software has in general, and the asked row's software"""
    of_net, of_software = collections.defaultdict(list), collections.defaultdict(list)
    for i in which:
        of_net[net_of(rows[i])].append(i)
    mean = {n: numpy.mean(z[i]) for n, i in of_net.items()}
    software = lambda i: (rows[i]["torch"], rows[i]["layout"])
    for i in which:
        of_software[software(i)].append(z[i] - mean[net_of(rows[i])])
    effect = {s: numpy.mean(v) for s, v in of_software.items()}
    newest = lambda s: effect.get(s, effect[max(effect, key=lambda e: (e[1] == s[1], -abs(int(e[0]) - int(s[0]))))])
    plainly = numpy.array([mean.get(net_of(rows[i]), math.nan) for i in asked])
    shifted = numpy.array([numpy.mean([z[k] - effect[software(k)] for k in of_net[net_of(rows[i])]]) + newest(software(i)) if net_of(rows[i]) in mean else math.nan
                           for i in asked])
    return plainly, shifted


def spread(rows, which, z):
    """90 % quantile of boosting's errors on networks that are left out, of the known GPU"""
    fold = numpy.array([hash_of(rows[i]["net"]) % 3 for i in which])
    off = [numpy.abs(boosted(rows, which[fold != f], z, which[fold == f]) - z[which[fold == f]]) for f in range(3)]
    return float(numpy.nanquantile(numpy.concatenate(off), 0.9))


def hash_of(text):
    return sum((k + 1) * ord(c) for k, c in enumerate(text))


def fill(rows):
    counts = {net_of(r): r for r in rows if r["gmacs"]}
    return [r if r["gmacs"] or net_of(r) not in counts else r | {k: counts[net_of(r)][k] for k in ("gmacs", "macts_M", "params_M")} for r in rows]


def timm():
    raw = [r for r in table(f"{DATA}/timm_infer.csv") if r["prec"] == "amp" and not r["torch"].endswith("d")]
    y = numpy.array([math.log(float(r["step_ms"]) / float(r["batch"])) for r in raw])
    gpu = numpy.array([r["gpu"] for r in raw])
    print(f"{'':36}" + "".join(f"{'-> ' + to:>22}" for to in sorted(set(gpu))))
    lines = collections.defaultdict(dict)
    full = fill(raw)
    for label, rows, part in (("counts missing, tensor peak", raw, 1), ("counts of others, tensor peak", full, 1), ("counts of others, 0.7", full, 0.7),
                              ("counts of others, 0.5", full, 0.5)):
        x = numpy.array([law(r["gpu"], real(r["gmacs"]), real(r["macts_M"]), part) for r in rows])
        z = y + x
        for to in sorted(set(gpu)):
            which, asked = numpy.flatnonzero(gpu != to), numpy.flatnonzero(gpu == to)
            boost = boosted(rows, which, z, asked)
            mean, shifted = matched(rows, which, z, asked)
            either = numpy.where(numpy.isnan(shifted), boost, (shifted + boost) / 2)
            half = math.hypot(spread(rows, which, z), CHIP_OFFSET)
            for step, said in (("same network, mean", mean), ("and software", shifted), ("boosting alone", boost), ("boosting and network, half each", either)):
                off = said - z[asked]
                has = ~numpy.isnan(off)
                lines[label, step][to] = f"{100 * numpy.abs(numpy.expm1(off[has])).mean():6.1f} % {numpy.median(off[has]):+.2f}"
            lines[label, "its interval: inside, factor"][to] = f"{100 * (numpy.abs(off) <= half).mean():6.1f} % {math.exp(half):.2f}"
    for (label, step), cells in lines.items():
        print(f"{label:30} {step:32} " + "  ".join(cells[to] for to in sorted(cells)))


# ---- 2. steps in 16 bits ----------------------------------------------------------------------------------------------


def items():
    """(source, item): [(GPU, logarithm of the time, multiply-adds, output values)]"""
    nets, out = {r["net"]: r for r in table(f"{DATA}/networks.csv")}, collections.defaultdict(list)
    counts = lambda r: (real(r.get("gmacs", "")), real(r.get("macts_M", "")))
    for r in table(f"{DATA}/ryujaehun_pytorch.csv"):
        if r["precision"] == "half" and r["gpus"] == "1":
            out["ryujaehun", r["net"], r["mode"]].append((r["gpu"], math.log(float(r["ms_median"])), *counts(nets.get(r["net"], {}))))
    for r in table(f"{DATA}/u39kun_frameworks.csv"):
        if r["bits"] == "16":
            out["u39kun", r["net"], r["framework"], r["mode"], r["batch"]].append((r["gpu"], math.log(float(r["ms"])), *counts(nets.get(r["net"], {}))))
    for r in table(f"{DATA}/lambda_train.csv"):
        if r["precision"] == "fp16" and r["gpus"] == "1":
            out["lambda", r["task"]].append((r["gpu"], -math.log(float(r["throughput"])), math.nan, math.nan))
    for r in table(f"{DATA}/timm_infer.csv"):
        if r["prec"] == "amp" and r["torch"] in ("240", "291") and r["layout"] == "nchw":
            out["timm", r["net"], r["img"]].append((r["gpu"], math.log(float(r["step_ms"]) / float(r["batch"])), *counts(r)))
    return out


def parts():
    sources = ("ryujaehun", "u39kun", "lambda", "timm")
    print("part   " + "".join(f"{s:>11}" for s in sources))
    all_items = items()
    for part in (1, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0, "half"):
        off = collections.defaultdict(list)
        for key, rows in all_items.items():
            of = collections.defaultdict(list)
            for gpu, time, gmacs, macts in rows:
                of[gpu].append(time + law(gpu, gmacs, macts, part))
            middle = numpy.mean([numpy.mean(v) for v in of.values()])
            for gpu, v in of.items() if len(of) > 1 else ():
                off[key[0], gpu].append(numpy.mean(v) - middle)
        rms = [math.sqrt(numpy.mean([numpy.mean(v) ** 2 for k, v in off.items() if k[0] == s])) for s in sources]
        print(f"{part:<7}" + "".join(f"{v:11.3f}" for v in rms))


timm()
parts()
