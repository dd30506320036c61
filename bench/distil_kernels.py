#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fits the constants of lib/steptime/kernel_times.c: one matrix product, one element-wise kernel, on any GPU, from its
data sheet. The measurements (NeuSight's, fp32, seven boards of six chips) stay outside.

The eleven constants of products are those with the least mean |log error|, each chip counting the same, pulled
towards where they began (a simplex search; 100 rows of each board and operator suffice). --left-out fits them without
each chip in turn and judges them on it: that is what a GPU that nobody measured has to expect. --check compares the
constants with what stands in the source, within what another sample of rows changes, and prints times of this
implementation, which tests/unit/test_kernel_times.c holds the program to.

usage: /usr/bin/python3 bench/distil_kernels.py DATA [--left-out] [--check]
(DATA: a folder with neusight_gemm.csv, neusight_vec.csv, neusight_conv.csv and neusight_e2e.csv)
"""
import collections
import csv
import math
import os
import re
import sys

import numpy
from scipy.optimize import minimize

HERE = os.path.dirname(os.path.abspath(__file__))
CONSTANTS = {  # name in the source: (begin, how far it may go, as a logarithm)
    "SHARE_BEFORE_2017": (0.795, 0.1), "SHARE_SINCE_2017": (1.10, 0.1), "SHARE_AMD": (1.00, 0.1),
    "WATTS_PER_TFLOPS": (23.4, 0.1), "WAVE_SHARE": (0.70, 0.3), "K_STEP": (10.3, 0.3), "K_PAD": (5.9, 0.3),
    "TILE_COST": (12.9, 0.3), "MEMORY_SHARE": (0.785, 0.1), "NORM": (3.95, 0.3), "ALONE_S": (43e-6, 0.3)}
BEGIN = numpy.array([b for b, _ in CONSTANTS.values()])
FAR = numpy.array([s for _, s in CONSTANTS.values()])
TILES = [(256, 128), (128, 256), (128, 128), (128, 64), (64, 128), (64, 64), (32, 128), (128, 32), (32, 64), (64, 32), (32, 32)]
CHIPS = {"A100-PCIE-40GB": "A100", "A100-PCIE-80GB": "A100", "A100-SXM4-40GB": "A100", "MI250": "MI210"}


def source():
    return open(f"{HERE}/../lib/steptime/kernel_times.c").read()


YEARS = {a: int(y) for a, y in re.findall(r'\{"(\w+)", (\d{4})\}', source())}


def boards():
    table = {}
    for r in csv.DictReader(open(f"{HERE}/../share/hardware/gpus.csv")):
        amd = r["arch"].startswith("CDNA")
        spec = dict(peak=float(r["fp32_tflops"]) * 1e12 * (2 if amd else 1), bandwidth=float(r["bandwidth_gbs"]) * 1e9,
                    sms=float(r["sms"]), watts=float(r["watts"]), year=YEARS.get(r["arch"], 0), amd=amd)
        for name in [r["name"]] + r["aliases"].split(","):
            table.setdefault(name.lower().replace("-", " "), spec)
    return table


BOARDS = boards()


def chip(name):
    return CHIPS.get(name, name)


def columns(names):
    specs = [BOARDS[n.lower().replace("-", " ")] for n in names]
    return {k: numpy.array([s[k] for s in specs], dtype=float) for k in specs[0]}


def sustained(g, c):
    share = numpy.where(g["amd"] > 0, c[2], numpy.where(g["year"] < 2017, c[0], c[1]))
    by_power = g["watts"] / (c[3] * 2.0 ** (-(g["year"] - 2016) / 3)) * 1e12
    return ((share * g["peak"]) ** -6.0 + by_power ** -6.0) ** (-1 / 6)


def product_s(g, b, m, n, k, c, bytes_moved=None):
    """without the least time of a kernel"""
    best = numpy.full(len(m), numpy.inf)
    rate = sustained(g, c) / g["sms"]
    for parts in (1, 2, 4, 8, 16):
        compute = numpy.full(len(m), numpy.inf)
        for tm, tn in TILES:
            waves = b * numpy.ceil(m / tm) * numpy.ceil(n / tn) * parts / g["sms"]
            waves = numpy.maximum(1, waves + c[4] * (numpy.ceil(waves) - waves))
            depth = c[5] * numpy.ceil(numpy.ceil(k / parts) / c[5]) + c[6]
            compute = numpy.minimum(compute, waves * 2 * tm * tn * depth * (1 + c[7] * (1 / tm + 1 / tn)) / rate)
        moved = (4 * b * (m * k + k * n + m * n) if bytes_moved is None else bytes_moved) + (0 if parts == 1 else 8 * parts * b * m * n)
        memory = moved / (c[8] * g["bandwidth"])
        time = (compute ** c[9] + memory ** c[9]) ** (1 / c[9])
        best = numpy.minimum(best, time if parts == 1 else numpy.where(numpy.ceil(k / parts) >= 256, time, numpy.inf))
    return best


class Products:
    def __init__(self, rows):
        counts = collections.Counter(chip(r["gpu"]) for r in rows)
        self.g = columns([r["gpu"] for r in rows])
        self.b, self.m, self.n, self.k, self.ms = (numpy.array([float(r[x]) for r in rows]) for x in ("b", "m", "n", "k", "ms"))
        self.weight = numpy.array([1 / counts[chip(r["gpu"])] for r in rows])
        self.chip = numpy.array([chip(r["gpu"]) for r in rows])

    def errors(self, c):
        return numpy.log((product_s(self.g, self.b, self.m, self.n, self.k, c) + c[10]) * 1e3 / self.ms)

    def loss(self, logs):
        with numpy.errstate(all="ignore"):
            e = numpy.abs(self.errors(BEGIN * numpy.exp(logs)))
        e = numpy.where(numpy.isfinite(e), e, 10)
        return (self.weight * e).sum() / self.weight.sum() + 0.003 * ((logs / FAR) ** 2).sum()


def read(name):
    return list(csv.DictReader(open(os.path.join(sys.argv[1], name + ".csv"))))


def sample(rows, seed=0):
    groups = collections.defaultdict(list)
    for r in rows:
        groups[r["gpu"], r["op"]].append(r)
    random = numpy.random.default_rng(seed)
    return [v[i] for _, v in sorted(groups.items()) for i in random.permutation(len(v))[:100]]


def fit(rows):
    table = Products(sample(rows))
    start = numpy.vstack([numpy.zeros(len(BEGIN))] + [0.1 * numpy.eye(len(BEGIN))[i] for i in range(len(BEGIN))])
    found = minimize(table.loss, numpy.zeros(len(BEGIN)), method="Nelder-Mead",
                     options=dict(initial_simplex=start, maxiter=500, xatol=1e-3, fatol=1e-5))
    return BEGIN * numpy.exp(found.x)


def relative(e):
    return numpy.abs(numpy.expm1(e)).mean()


def left_out(rows):
    by_chip = {}
    for name in sorted({chip(r["gpu"]) for r in rows}):
        c = fit([r for r in rows if chip(r["gpu"]) != name])
        by_chip[name] = Products([r for r in rows if chip(r["gpu"]) == name]).errors(c)
        e = by_chip[name]
        print(f"  {name:6} left out: mean error {100 * relative(e):.1f} %, its median off by {100 * numpy.expm1(numpy.median(e)):+.1f} %")
    print(f"mean over the chips left out: {100 * numpy.mean([relative(e) for e in by_chip.values()]):.1f} %")


def vectors():
    """shares of the bandwidth and the least time, each chip counting the same"""
    rows = read("neusight_vec")
    tensors = {"add": 3, "mul": 3, "div": 3, "pow": 3}
    g = columns([r["gpu"] for r in rows])
    moved = numpy.array([4 * float(r["rows"]) * float(r["cols"]) * tensors.get(r["op"], 2) for r in rows])
    kind = numpy.array([{"softmax": 1, "ln": 2}.get(r["op"], 0) for r in rows])
    ms, chips = numpy.array([float(r["ms"]) for r in rows]), numpy.array([chip(r["gpu"]) for r in rows])
    counts = collections.Counter(chips)
    weight = numpy.array([1 / counts[x] for x in chips])

    def errors(c):
        return numpy.log((c[3] + moved / (g["bandwidth"] * numpy.array(c[:3])[kind])) * 1e3 / ms)

    begin = numpy.array([0.80, 0.62, 0.50, 20e-6])
    found = minimize(lambda x: (weight * numpy.abs(errors(begin * numpy.exp(x)))).sum(), numpy.zeros(4), method="Nelder-Mead")
    c = begin * numpy.exp(found.x)
    print(f"vector kernels: shares {c[0]:.2f} {c[1]:.2f} {c[2]:.2f}, least time {1e6 * c[3]:.0f} us; mean error by chip, in the source's / fitted: "
          + ", ".join(f"{x} {100 * relative(errors(begin)[chips == x]):.0f} / {100 * relative(errors(c)[chips == x]):.0f} %" for x in sorted(counts)))


def convolutions():
    """SHARE_WINOGRAD: of all chips, and of each the share that fits the others"""
    rows = [r for r in read("neusight_conv") if r["kernel"] == "3" and r["stride"] == "1"]
    rows = [rows[i] for i in numpy.random.default_rng(0).permutation(len(rows))[:4000]]
    g, c = columns([r["gpu"] for r in rows]), stands_there()
    batch, cin, cout, side, pad, ms = (numpy.array([float(r[x]) for r in rows]) for x in ("batch", "cin", "cout", "in_hw", "pad", "ms"))
    chips = numpy.array([chip(r["gpu"]) for r in rows])
    out = side + 2 * pad - 2
    m, k = batch * out ** 2, 9 * cin
    saves = float(re.search(r"#define WINOGRAD_SAVES ([\d.]+)", source()).group(1))

    def errors(share):
        one = dict(g, peak=share * g["peak"] / numpy.where(g["year"] < 2017, c[0], c[1]))
        t = product_s(one, 1, m, cout, k / saves, c, 4 * (batch * cin * side ** 2 + m * cout + k * cout))
        return numpy.log((t + c[10]) * 1e3 / ms)

    shares = numpy.arange(0.3, 0.8, 0.05)
    by_chip = {x: numpy.array([numpy.abs(errors(s)[chips == x]).mean() for s in shares]) for x in sorted(set(chips))}

    def best(names):
        return shares[sum(by_chip[x] for x in names).argmin()]

    share = best(by_chip)
    print(f"convolutions of 3 x 3: share {share:.2f}; its median off by chip, and the share of the other chips: "
          + ", ".join(f"{x} {numpy.median(errors(share)[chips == x]):+.2f} {best([y for y in by_chip if y != x]):.2f}" for x in by_chip))


def stands_there():
    text = source()
    return numpy.array([float(re.search(rf"#define {name} ([\d.e-]+)", text).group(1)) for name in CONSTANTS])


CASES = [("V100", 1, 4096, 4096, 4096), ("P4", 1, 512, 30522, 1024), ("A100-PCIE-40GB", 128, 512, 64, 512),
         ("H100", 1, 64, 64, 8192), ("MI210", 1, 1000, 1000, 1000)]


def main():
    rows = read("neusight_gemm")
    fitted = fit(rows)
    whole = Products(rows)
    there = stands_there()
    for name, value, now in zip(CONSTANTS, fitted, there):
        print(f"  {name:18} {value:.4g}   in the source {now:.4g}")
    for what, c in (("fitted now", fitted), ("in the source", there)):
        e = whole.errors(c)
        print(f"products, constants {what}: mean error "
              + ", ".join(f"{x} {100 * relative(e[whole.chip == x]):.1f} %" for x in sorted(set(whole.chip))))
    vectors()
    convolutions()
    if "--left-out" in sys.argv:
        left_out(rows)
    if "--check" in sys.argv:
        for gpu, b, m, n, k in CASES:
            one = [numpy.array([float(x)]) for x in (b, m, n, k)]
            print(f'    {{"{gpu}", {b}, {m}, {n}, {k}, {product_s(columns([gpu]), *one, there)[0]:.6e}}},')
        worse = Products(sample(rows, 1)).loss(numpy.log(there / BEGIN)) / Products(sample(rows, 1)).loss(numpy.log(fitted / BEGIN)) - 1
        print(f"on rows of another sample the constants in the source lose {100 * worse:+.1f} % against those fitted now")
        if worse > 0.03:
            sys.exit("DIFFERS: fit again, and write these into lib/steptime/kernel_times.c")


if __name__ == "__main__":
    main()
