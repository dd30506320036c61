#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fits the constants of NVIDIA's tensor cores in lib/steptime: the share of the peak, the energy of an operation, the
depth and the loads that a tile costs, the scores of attention in one kernel, and what 16 bits move besides.

Fitted to trainings of MPT on A100 (MosaicML; FSDP, attention in one kernel, also with activations computed again) and of BERT on
other GPUs (Lambda Labs; attention written out). Judged on MPT on H100 and BERT on H100 and L40S (milabench), which the fit
does not see. The constants are those with the least mean |log error|, each kind and GPU counting the same, pulled towards
where they began. --left-out fits them without each GPU of the first two tables in turn. --check says how far this implementation of a
step is from the program's.

usage: /usr/bin/python3 bench/distil_tensor.py DATA [--left-out] [--check BUILD]
(DATA: a folder with mpt_fsdp.csv, lambda_train.csv and milabench.csv)
"""
import collections
import csv
import json
import os
import re
import statistics
import subprocess
import sys

import numpy
from scipy.optimize import minimize

HERE = os.path.dirname(os.path.abspath(__file__))
CONSTANTS = {  # name in the source: (begin, how far it may go, as a logarithm)
    "SHARE_TENSOR": (0.85, 0.2), "WATTS_PER_TENSOR_TFLOPS": (3.8, 0.3), "TENSOR_FILL": (20.0, 0.5), "TENSOR_TILE_COST": (12.9, 0.3),
    "SCORES_PER_CYCLE": (3.5, 0.5), "MIXED": (1.4, 0.2)}
BEGIN = numpy.array([b for b, _ in CONSTANTS.values()])
FAR = numpy.array([s for _, s in CONSTANTS.values()])
TEXT = "".join(open(f"{HERE}/../lib/steptime/{name}").read() for name in ("kernel_times.c", "kernel_sum.c", "kernel_step.c"))
TILES = [(256, 128), (128, 256), (128, 128), (128, 64), (64, 128), (64, 64), (32, 128), (128, 32), (32, 64), (64, 32), (32, 32)]
MPT_GPUS = {"a100_40gb": "A100-SXM4-40GB", "a100_80gb": "A100-SXM4-80GB", "h100_80gb": "H100-SXM5"}


def constant(name):
    return float(re.search(rf"(?:#define {name}|^ +{name}) +([\d.e-]+)", TEXT, re.M).group(1))


FIXED = {n: constant(n) for n in ("POWER_NORM", "WAVE_SHARE", "K_STEP", "MEMORY_SHARE", "NORM", "BEHIND_S", "HALVING_YEARS", "TENSOR_RATE",
                                  "FUSED_BACKWARD", "DROPOUT_VALUES", "LOSS_VALUES", "LAUNCH_S", "LAUNCHES_TRAINING", "LAG")}
SHARES = [float(x) for x in re.search(r"VECTOR_SHARES\[\w+\] = \{([^}]*)\}", TEXT).group(1).split(",")]
YEARS = {a: int(y) for a, y in re.findall(r'\{"(\w+)", (\d{4})\}', TEXT)}
ELEMENTWISE, SOFTMAX, NORM = range(3)


def boards():
    table = {}
    for r in csv.DictReader(open(f"{HERE}/../share/hardware/gpus.csv")):
        for name in [r["name"]] + r["aliases"].split(","):
            table.setdefault(re.sub("[- ]", "", name.lower()), r)
    return table


BOARDS = boards()


class Gpu:
    def __init__(self, name, precision, c):
        r = BOARDS[re.sub("[- ]", "", name.lower())]
        self.bytes = 2 if precision in ("fp16", "bf16") else 4
        half = float(r["tensor16_tflops"]) * 1e12
        peak = half * (1 if self.bytes == 2 else 0.5)
        energy = c[1] * 2 ** (-(YEARS[r["arch"]] - 2016) / FIXED["HALVING_YEARS"])
        power = float(r["watts"]) / energy * 1e12 * peak / half
        n = FIXED["POWER_NORM"]
        self.sms, self.bandwidth = float(r["sms"]), float(r["bandwidth_gbs"]) * 1e9
        self.rate = ((c[0] * peak) ** -n + power ** -n) ** (-1 / n) / self.sms
        relative = peak / self.sms / FIXED["TENSOR_RATE"]
        self.fill, self.tile = c[2] * relative, c[3] * relative * self.bytes / 2
        self.scores = self.sms * float(r["boost_mhz"]) * 1e6 * c[4]
        self.mixed = c[5] if self.bytes == 2 else 1

    def product(self, b, m, n, k, moved=None):
        best = float("inf")
        for parts in (1, 2, 4, 8, 16):
            if parts > 1 and -(-k // parts) < 256:
                break
            depth = FIXED["K_STEP"] * numpy.ceil(numpy.ceil(k / parts) / FIXED["K_STEP"]) + self.fill
            compute = float("inf")
            for tm, tn in TILES:
                w = b * -(-m // tm) * -(-n // tn) * parts / self.sms
                w = max(1, w + FIXED["WAVE_SHARE"] * (numpy.ceil(w) - w))
                compute = min(compute, w * 2 * tm * tn * depth * (1 + self.tile * (1 / tm + 1 / tn)) / self.rate)
            out = b * m * n
            values = self.bytes * (b * (m * k + k * n) + out) if moved is None else moved
            memory = (values + (2 * parts * self.bytes * out if parts > 1 else 0)) / (self.bandwidth * FIXED["MEMORY_SHARE"])
            best = min(best, (compute ** FIXED["NORM"] + memory ** FIXED["NORM"]) ** (1 / FIXED["NORM"]))
        return best

    def vector(self, kind, values, element_bytes=None):
        return values * (element_bytes or self.bytes) / (self.bandwidth * SHARES[kind])


class Sum:
    """of a micro-batch; what is between marks `again` is computed again"""

    def __init__(self, gpu):
        self.gpu, self.forward, self.backward, self.again, self.operators = gpu, 0.0, 0.0, 0.0, 0

    def add(self, forward, backward, times, again, operators):
        self.forward += times * forward
        self.backward += times * backward
        self.again += times * forward if again else 0
        self.operators += times * operators

    def products(self, b, m, n, k, times=1, again=False):
        g, least = self.gpu, FIXED["BEHIND_S"]
        self.add(g.product(b, m, n, k) + least, g.product(b, m, k, n) + g.product(b, k, n, m) + 2 * least, times, again, 1)

    def vectors(self, kind, values, back, times=1, again=False):
        s = self.gpu.vector(kind, self.gpu.mixed * values) + FIXED["BEHIND_S"]
        self.add(s, s * back, times, again, 1)

    def fused(self, b, seq, depth, moved, times, again):
        once = (self.gpu.product(b, seq, seq, 2 * depth, moved) + b * seq * seq / self.gpu.scores) / 2 + FIXED["BEHIND_S"]
        self.add(once, FIXED["FUSED_BACKWARD"] * once, times, again, 1)

    def total(self, scores, params, updated, checkpoints):
        g = self.gpu
        after = g.vector(ELEMENTWISE, FIXED["LOSS_VALUES"] * scores) + g.vector(ELEMENTWISE, 3 * params, 4)
        host = FIXED["LAUNCH_S"] * FIXED["LAUNCHES_TRAINING"] * self.operators
        lag, update = FIXED["LAG"], g.vector(ELEMENTWISE, 7 * params, 4)
        device = self.forward + self.backward + after + update
        factor = (device ** lag + host ** lag) ** (1 / lag) / device
        own = (self.forward + self.backward + after) * factor
        return own + (self.again * factor if checkpoints else 0), update * factor * updated


def mpt_s(r, gpu):
    layers, h, heads, vocab, seq, micro = (int(r[k]) for k in ("layers", "hidden", "heads", "vocab", "seq", "micro_batch"))
    s, t = Sum(gpu), micro * seq
    s.vectors(ELEMENTWISE, 2 * t * h, 1.5)
    for _ in range(1):  # a layer, as often as there are
        s.vectors(NORM, 2 * t * h, 2, 2 * layers, True)
        s.products(1, t, 3 * h, h, layers, True)
        s.fused(micro * heads, seq, h // heads, gpu.bytes * t * 4 * h, layers, True)
        s.products(1, t, h, h, layers, True)
        s.vectors(ELEMENTWISE, 3 * t * h, 0.2, layers, True)
        s.products(1, t, 4 * h, h, layers, True)
        s.vectors(ELEMENTWISE, 8 * t * h, 1.5, layers, True)
        s.products(1, t, h, 4 * h, layers)  # needed by no gradient
        s.vectors(ELEMENTWISE, 3 * t * h, 0.2, layers)
    s.vectors(NORM, 2 * t * h, 2)
    s.products(1, t, vocab, h)
    params = layers * (12 * h * h + 2 * h) + h + vocab * h
    own, update = s.total(t * vocab, params, 1 / int(r["gpus"]), r["checkpointing"] == "True")
    return own * int(r["accumulations"]) + update


def bert_s(batch, seq, gpu, masked):
    h, layers, heads, vocab = 768, 12, 12, 30522
    s, t, a = Sum(gpu), batch * seq, batch * 12 * seq * seq
    s.vectors(ELEMENTWISE, 2 * t * h, 1.5, 3)
    s.vectors(ELEMENTWISE, 3 * t * h, 0.2, 2 + 2 * layers)
    s.vectors(NORM, 2 * t * h, 2, 1 + 2 * layers)
    s.vectors(ELEMENTWISE, FIXED["DROPOUT_VALUES"] * t * h, 0, 1 + 2 * layers)
    s.products(1, t, h, h, 4 * layers)
    s.products(batch * heads, seq, seq, h // heads, layers)
    s.products(batch * heads, seq, h // heads, seq, layers)
    s.vectors(ELEMENTWISE, 2 * a, 1, 2 * layers)
    s.vectors(SOFTMAX, 2 * a, 1.5, layers)
    s.vectors(ELEMENTWISE, FIXED["DROPOUT_VALUES"] * a, 0, layers)
    s.vectors(ELEMENTWISE, 2 * t * h, 1, 4 * layers)
    s.products(1, t, 4 * h, h, layers)
    s.vectors(ELEMENTWISE, 8 * t * h, 1.5, layers)
    s.products(1, t, h, 4 * h, layers)
    params = layers * (12 * h * h + 13 * h) + (vocab + 516) * h
    if masked:
        s.products(1, t, h, h)
        s.vectors(ELEMENTWISE, 2 * t * h, 1.5)
        s.vectors(NORM, 2 * t * h, 2)
        s.products(1, t, vocab, h)
    return sum(s.total(t * vocab if masked else 0, params, 1, False))


def read(name):
    return csv.DictReader(open(os.path.join(sys.argv[1], name + ".csv")))


def questions():
    """(source, GPU, precision, seconds by constants, measured seconds, the program's words)"""
    for r in read("mpt_fsdp"):
        if "bf16" in r["precision"]:
            each = int(r["micro_batch"]) * int(r["accumulations"])
            words = ["--net", f"mpt:{r['layers']},{r['hidden']},{r['heads']}", "--classes", r["vocab"], "--tokens", r["seq"], "--precision", "bf16",
                     "--batch", str(each), "--parallel", f"fsdp={r['gpus']},micro={r['accumulations']}"] + ["--checkpointing"] * (r["checkpointing"] == "True")
            yield "MPT", MPT_GPUS[r["gpu"]], "bf16", lambda g, r=r: mpt_s(r, g), each * int(r["seq"]) / float(r["tokens_s_gpu"]), words
    for r in read("lambda_train"):
        precision = "tf32" if r["precision"] == "fp32" else r["precision"]
        tensor = BOARDS[re.sub("[- ]", "", r["gpu"].lower())]
        if r["task"] == "bert_base_squad" and r["gpus"] == "1" and r["batch_per_gpu"] and (precision == "fp16" or tensor["bf16"] == "yes"):
            b = int(float(r["batch_per_gpu"]))
            yield "BERT", r["gpu"], precision, lambda g, b=b: bert_s(b, 384, g, False), b / float(r["throughput"]), \
                ["--net", "bert-base", "--tokens", "384", "--batch", str(b), "--precision", precision, "--attention", "eager"]
    seen = collections.defaultdict(list)
    for r in read("milabench"):
        if r["task"] in ("bert-tf32", "bert-fp16") and int(float(r["batch"])) >= 24:
            seen[r["gpu"], r["task"][5:], int(float(r["batch"]))].append(float(r["items_per_s"]))
    for (gpu, precision, b), rates in seen.items():
        yield "milabench", gpu, precision, lambda g, b=b: bert_s(b, 512, g, True), b / statistics.median(rates), \
            ["--net", "bert-base-mlm", "--tokens", "512", "--batch", str(b), "--precision", precision, "--attention", "eager"]


def errors(rows, c):
    gpus = {}
    for _, gpu, precision, *_ in rows:
        gpus.setdefault((gpu, precision), Gpu(gpu, precision, c))
    return numpy.array([numpy.log(s(gpus[gpu, precision]) / measured) for _, gpu, precision, s, measured, _ in rows])


def fit(rows):
    count = collections.Counter((r[0], r[1] if r[0] == "BERT" else "") for r in rows)
    sources = collections.Counter(k[0] for k in count)
    weight = numpy.array([1 / count[r[0], r[1] if r[0] == "BERT" else ""] / sources[r[0]] for r in rows])

    def loss(logs):
        e = numpy.abs(errors(rows, BEGIN * numpy.exp(logs)))
        return (weight * e).sum() / weight.sum() + 0.003 * ((logs / FAR) ** 2).sum()

    n = len(BEGIN)
    start = numpy.vstack([numpy.zeros(n)] + [0.1 * numpy.eye(n)[i] for i in range(n)])
    found = minimize(loss, numpy.zeros(n), method="Nelder-Mead", options=dict(initial_simplex=start, maxfev=250, xatol=2e-3, fatol=1e-5))
    return BEGIN * numpy.exp(found.x)


def show(rows, c, title):
    by = collections.defaultdict(list)
    for r, e in zip(rows, errors(rows, c)):
        by[r[0], r[1] if r[0] != "MPT" else r[1][:4], r[2]].append(e)
    print(title)
    for k, e in sorted(by.items()):
        print(f"  {' '.join(k):34} {len(e):3} rows  median log {statistics.median(e):+.3f}  mean |log| {numpy.mean(numpy.abs(e)):.3f}")


def is_fitted(r):
    return r[0] == "BERT" or (r[0] == "MPT" and r[1].startswith("A100"))


def sample(rows):
    """of MPT a third, which suffices"""
    return [r for i, r in enumerate(rows) if r[0] != "MPT" or i % 3 == 0]


def check(rows, there, build):
    apart = []
    for _, gpu, precision, s, _, words in rows[::7]:
        out = subprocess.run([f"{build}/orch", "predict", "--gpu", gpu, *words, "--optimizer", "adam", "--model", "transferred", "--json"],
                             capture_output=True, text=True, check=True)
        p = json.loads(out.stdout)["predictions"][0]
        apart.append(abs(numpy.log((p["step_s"] - p["exposed_exchange_s"]) / s(Gpu(gpu, precision, there)))))
    print(f"this implementation and the program: {100 * statistics.median(apart):.2f} % apart in the median of {len(apart)} steps, at most {100 * max(apart):.1f} %")


def main():
    rows = list(questions())
    fitted, there = fit(sample([r for r in rows if is_fitted(r)])), numpy.array([constant(n) for n in CONSTANTS])
    for name, value, now in zip(CONSTANTS, fitted, there):
        print(f"  {name:24} {value:.4g}   in the source {now:.4g}")
    for what, c in (("fitted now", fitted), ("in the source", there)):
        show([r for r in rows if is_fitted(r)], c, f"rows of the fit, constants {what}")
        show([r for r in rows if not is_fitted(r)], c, f"rows that the fit does not see, constants {what}")
    if "--left-out" in sys.argv:
        for gpu in sorted({r[1] for r in rows if r[0] == "BERT"}):
            own = [r for r in rows if r[1] == gpu]
            print(f"{gpu} left out: {100 * numpy.abs(numpy.expm1(errors(own, fit(sample([r for r in rows if is_fitted(r) and r[1] != gpu]))))).mean():.1f} % of {len(own)} rows")
    if "--check" in sys.argv:
        check(rows, there, sys.argv[sys.argv.index("--check") + 1])


main()
