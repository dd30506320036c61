#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Distils public measurements of training and inference into the coefficients of lib/steptime/transfer.c: what
orch answers with for a GPU that it has no measurement of. The measurements stay outside.

A step's time is that of its layers on the GPU and of their launches by the host, whichever lags
(a p-norm of both); a layer's time its operations over the share of the peak that its kind reaches, or its
traffic over the share of the bandwidth, with a least time for a kernel (lib/steptime/transfer.h has the formula).

--write writes lib/steptime/transfer_fit.inc (the coefficients and what they were fitted to) and, with --intervals, left_out_errors.inc beside it;
--check says whether these files are what the rows give, and whether orch computes what was fitted.

--shifts derives what features/predict/step_shift.c makes of one's own runs, with each chip left out of the fit that speaks of
it: how much the error of a network on another GPU says of this one's (OTHER_GPU_WEIGHT), how far off the answer is then
(OTHER_GPU_ERROR), and after a run of the same network on the same GPU at another batch (SAME_NET_ERROR); with --check
they are compared with what stands there. --left-out judges the fit on chips and networks that are left out of it; --regret on the decision: of the GPUs that a
network was measured on, with prices drawn around each GPU's speed (half to twice: there the choice is hardest), what
the GPU with the least predicted cost costs over the one that is cheapest in hindsight.

--intervals derives the 90 % interval of an answer by the shape of its question, of all precisions together and of each with three groups or more: the chip
and the network's family were measured (rows left out at random), the family was not, the chip was not, its architecture was not. Boards of a chip are left
out together. A group is the rows of one source on one chip (or of one family), six or more. Its offset is the median of its log errors; a new
group is as far off as Student's t says of these. Its spread is the upper quartile over the groups of the 90 % quantile about the offset. An architecture that
was not measured has no narrower interval than a chip. After n runs on the chip its offset is known to s / sqrt(1 + n s^2 / sd^2),
sd being the spread's. Each interval is judged on the chips (families) that it was not derived from.

usage: /usr/bin/python3 bench/distil.py BUILD DATA [--shifts] [--left-out] [--regret] [--intervals] [--write] [--check]
(DATA: a folder with the measurements' CSV files)
"""
import collections
import csv
import functools
import json
import math
import os
import re
import subprocess
import sys
import zlib

import numpy
from scipy.optimize import least_squares

build, data = sys.argv[1:3]
KINDS = ["dense", "wino", "point", "group", "linear", "other"]
LIGHT = {"batchnorm2d": (1.5, 2.5), "layernorm": (1, 2.5), "lrn": (1, 2.5)}
OTHERS = {"relu": 1.5, "relu6": 1.5, "tanh": 1.5, "sigmoid": 1.5, "silu": 1.5, "gelu": 1.5, "softmax": 1.5,
          "maxpool2d": 1.5, "avgpool2d": 1.5, "adaptive_avgpool2d": 1.5}


def orch(*words):
    out = subprocess.run([f"{build}/orch", *words, "--json"], capture_output=True, text=True)
    return json.loads(out.stdout) if out.returncode == 0 else None


NETS = {n["name"] for n in orch("net", "ls")["networks"]}
NAMES = {"inception_v1": "googlenet", "alexnet_owt": "alexnet", "vgg_a": "vgg11", "inception3": "inception_v3"}


@functools.lru_cache(None)
def gpu(name):
    shown = orch("gpu", "show", name)
    if not shown:
        return None
    f = {x["what"]: x["value"] for x in shown["facts"]}
    fp32, fp16 = f["peak fp32"] * 1e12, (f["peak fp16"] or 0) * 1e12
    tensor = (f["peak fp16 (tensor cores)"] or 0) * 1e12
    if tensor:  # the rate of the units; GeForce cards count half of it when sums are kept in fp32
        arch = f["architecture"].split(",")[0]
        tensor = max(tensor, fp32 * {"Turing": 8, "Ampere": 4, "Ada": 4, "Blackwell": 4}.get(arch, 0))
    return dict(name=f["gpu"], chip=f["chip"], arch=f["architecture"].split(",")[0], fp64=(f["peak fp64"] or 0) * 1e12,
                fp32=fp32, tf32=tensor / 2 if f["peak tf32"] else 0, fp16=tensor or max(fp32, fp16), tensor=tensor,
                bandwidth=f["memory bandwidth"] * 1e9)


@functools.lru_cache(None)
def layers(net, side):
    """Columns: kind, forward operations, bytes of weights, bytes of values an image, rounds over memory forward and
    backward, passes over the operations backward, launches forward; and the number of parameters."""
    shown = orch("net", "show", net, "--input", f"3x{side}x{side}")
    rows = []
    for i, layer in enumerate(shown["layers"] if shown else []):
        words = layer["type"].split()
        op = words[0]
        if op in ("input", "dropout", "flatten", "stochastic_depth", "identity"):
            continue
        weights = 4 * layer["params"]
        kind = "other"
        if op == "conv2d":
            # "3x3/2" has a stride and is none of Winograd's
            kind = "group" if "in" in words else {"1x1": "point", "3x3": "wino"}.get(words[1], "dense")
        elif layer["multiply-adds"]:
            kind = "linear"
        if layer["multiply-adds"]:
            forward, backward, passes = 1, (1 if i == 1 else 2), (1 if i == 1 else 2)
        else:
            forward, backward = LIGHT.get(op, (1, OTHERS.get(op, 1)))
            passes = backward
        rows.append((KINDS.index(kind), layer["ops"], weights, layer["read"] + layer["written"] - weights, forward,
                     backward, passes))
    return numpy.array(rows, dtype=float), shown["params"] if shown else 0


def read(name):
    path = os.path.join(data, name)
    return list(csv.DictReader(open(path))) if os.path.exists(path) else []


def collect():
    rows = []

    def add(source, name, net, batch, side, precision, trains, ms):
        spec, net = gpu(name), NAMES.get(net, net)
        if net not in NETS or not spec or batch < 1:
            return
        if precision == "fp32" and spec["tf32"]:
            precision = "tf32"  # what PyTorch's convolutions do from Ampere on
        if not spec[precision] or not len(layers(net, side)[0]):
            return
        rows.append(dict(source=source, gpu=name, spec=spec, net=net, batch=batch, side=side, precision=precision,
                         trains=trains, s=ms / 1e3))

    for r in read("ryujaehun_pytorch.csv"):
        if r["gpus"] == "1":
            add("ryujaehun", r["gpu"], r["net"], int(r["batch_total"]), 224,
                {"float": "fp32", "half": "fp16", "double": "fp64"}[r["precision"]], r["mode"] == "train",
                float(r["ms_median"]))
    for r in read("jcjohnson_cnn.csv"):
        if r["cudnn"] != "none" and "CPU" not in r["gpu"]:
            add("jcjohnson", r["gpu"], r["net"], int(float(r["batch"])), int(float(r["img"])), "fp32", True, float(r["total_ms"]))
            add("jcjohnson", r["gpu"], r["net"], int(float(r["batch"])), int(float(r["img"])), "fp32", False, float(r["fw_ms"]))
    for r in read("tf_benchmarks.csv"):
        if r["gpus"] == "1" and r["data"] == "synthetic":
            add("tf_benchmarks", r["gpu"], r["net"], int(r["batch_per_gpu"]),
                299 if r["net"] == "inception3" or r["net"] == "inception_v3" else 224, "fp32", True, float(r["step_ms"]))
    for r in read("u39kun_frameworks.csv"):
        if "CPU" not in r["gpu"] and "PyTorch" in r["framework"]:
            add("u39kun", r["gpu"], r["net"], int(float(r["batch"])), int(float(r["img"])), "fp" + r["bits"], r["mode"] == "train",
                float(r["ms"]))
    for r in read("soumith_convnet.csv"):
        if "CuDNN" in r["library"] and r["bits"] == "32":
            add("soumith", r["gpu"], r["net"], int(float(r["batch"])), int(float(r["img"])), "fp32", True, float(r["total_ms"]))
    for name, trains in (("timm_train.csv", True), ("timm_infer.csv", False)):
        for r in read(name):
            if r["layout"] == "nchw" and r["prec"] == "amp" and not r["torch"].endswith("d"):  # d: compiled
                add("timm", r["gpu"], r["net"], int(float(r["batch"])), int(float(r["img"])), "fp16", trains, float(r["step_ms"]))
    for r in read("lambda_train.csv"):
        if r["task"] == "resnet50" and r["gpus"] == "1" and r["batch_per_gpu"]:
            batch = int(float(r["batch_per_gpu"]))
            add("lambda", r["gpu"], "resnet50", batch, 224, r["precision"], True, 1e3 * batch / float(r["throughput"]))
    groups = collections.Counter((r["source"], r["gpu"], r["net"], r["trains"], r["precision"]) for r in rows)
    for r in rows:
        r["weight"] = 1 / groups[(r["source"], r["gpu"], r["net"], r["trains"], r["precision"])]
    return rows


# A share of the peak by kind of layer and precision, times a factor of the architecture; the rest is of all.
SHARES = ["dense", "wino", "point", "group", "linear"]
START = {"fp32 dense": 0.7, "fp32 wino": 1.0, "fp32 point": 0.7, "fp32 group": 0.1, "fp32 linear": 0.6,
         "fp64 dense": 0.6, "fp64 wino": 0.6, "fp64 point": 0.6, "fp64 group": 0.1, "fp64 linear": 0.6,
         "tf32 dense": 0.35, "tf32 wino": 0.35, "tf32 point": 0.35, "tf32 group": 0.02, "tf32 linear": 0.35,
         "fp16 dense": 0.4, "fp16 wino": 0.4, "fp16 point": 0.4, "fp16 group": 0.02, "fp16 linear": 0.4,
         "memory": 0.7, "kernel_us": 8.0, "kernel_back_us": 16.0, "launch_us": 30.0, "launch_back_us": 60.0, "p": 1.5, "geforce": 1.05}
ARCHS = ["Kepler", "Maxwell", "Pascal", "Volta", "Turing", "Ampere", "Ada", "Hopper", "Blackwell"]
SOURCES = ["ryujaehun", "jcjohnson", "tf_benchmarks", "u39kun", "soumith", "timm", "lambda"]
NAMES_OF = list(START) + ["arch " + a for a in ARCHS] + ["source " + x for x in SOURCES]
BEGIN = numpy.log(list(START.values()) + [1.0] * (len(ARCHS) + len(SOURCES)))
PULL = numpy.array([1 / 0.5] * len(START) + [1 / 0.25] * len(ARCHS) + [1 / 0.5] * len(SOURCES))
AT = {n: i for i, n in enumerate(NAMES_OF)}
P = 4.0


class Table:
    """All rows' layers in flat arrays, so that one fit is a few array operations."""

    def __init__(self, rows):
        self.rows = rows
        flat, begin = [], [0]
        for i, r in enumerate(rows):
            columns, params = layers(r["net"], r["side"])
            spec, width = r["spec"], {"fp16": 2, "fp64": 8}.get(r["precision"], 4)
            precision = "fp32" if r["precision"] == "fp16" and not spec["tensor"] else r["precision"]
            for kind, ops, weights, values, fwd, back, passes in columns:
                name = (SHARES + ["other"])[int(kind)]
                moved = (weights + values * r["batch"]) * width / 4
                if not r["trains"]:
                    fwd = 1
                share = AT[f"{precision} {name}"] if name != "other" else -1
                flat.append((i, share, ops * r["batch"] / spec[r["precision"]], passes if r["trains"] else 0,
                             moved * fwd / spec["bandwidth"], moved * back / spec["bandwidth"] if r["trains"] else 0))
            begin.append(len(flat))
        f = numpy.array(flat)
        self.row, self.share = f[:, 0].astype(int), f[:, 1].astype(int)
        self.compute, self.passes, self.memory, self.memory_back = f[:, 2], f[:, 3], f[:, 4], f[:, 5]
        self.begin = numpy.array(begin[:-1])
        self.count = numpy.diff(begin)
        self.trains = numpy.array([r["trains"] for r in rows], dtype=float)
        self.update = numpy.array([20 * layers(r["net"], r["side"])[1] / r["spec"]["bandwidth"] for r in rows]) * self.trains
        self.arch = numpy.array([AT["arch " + r["spec"]["arch"]] for r in rows])
        self.source = numpy.array([AT["source " + r["source"]] for r in rows])
        self.geforce = numpy.array([bool(re.match(r"(GTX|RTX) \d{3,4}( |$)", r["gpu"])) for r in rows], dtype=float)
        self.log_s = numpy.log([r["s"] for r in rows])
        self.weight = numpy.sqrt([r["weight"] for r in rows])

    def log_seconds(self, theta):
        v = numpy.exp(theta)
        factor = v[self.arch] * v[AT["geforce"]] ** self.geforce
        share = numpy.where(self.share >= 0, v[self.share], 1) * factor[self.row]
        band = v[AT["memory"]]
        kernel = v[AT["kernel_us"]] * 1e-6
        p = v[AT["p"]]
        t = ((self.compute / share) ** p + (self.memory / band) ** p) ** (1 / p) + kernel
        t += ((self.compute * self.passes / share) ** p + (self.memory_back / band) ** p) ** (1 / p) + v[AT["kernel_back_us"]] * 1e-6 * (self.passes > 0)
        device = numpy.add.reduceat(t, self.begin) + self.update / band
        host = self.count * (v[AT["launch_us"]] + self.trains * v[AT["launch_back_us"]]) * 1e-6 * v[self.source]
        return numpy.log(device ** P + host ** P) / P


def fit(table):
    def residuals(theta):
        return numpy.concatenate([table.weight * (table.log_seconds(theta) - table.log_s), 0.3 * PULL * (theta - BEGIN)])
    return least_squares(residuals, BEGIN, loss="soft_l1", f_scale=0.2, diff_step=1e-3).x


rows = collect()
print(len(rows), "rows,", len({r["net"] for r in rows}), "networks,", len({r["gpu"] for r in rows}), "GPUs")
theta = fit(Table(rows))
for name, value in zip(NAMES_OF, numpy.exp(theta)):
    print(f"  {name:15} {value:.4g}")


def quantile(errors, level):
    """Of |log error|, rows weighed as in the fit."""
    sizes = numpy.array([abs(e) for _, e in errors])
    weights = numpy.array([r["weight"] for r, _ in errors])
    order = numpy.argsort(sizes)
    at = numpy.searchsorted(numpy.cumsum(weights[order]), level * weights.sum())
    return sizes[order][min(at, len(sizes) - 1)]


def show(errors, key):
    by = collections.defaultdict(list)
    for r, e in errors:
        by[key(r)].append(e)
    for k in sorted(by, key=str):
        e = numpy.array(by[k])
        print(f"  {str(k):45} n {len(e):4}  median |e| {100*numpy.median(numpy.abs(numpy.expm1(e))):6.1f} %  bias {100*math.expm1(numpy.median(e)):+6.1f} %")


@functools.lru_cache(None)
def left_out(key):
    errors = []
    for group in sorted({key(r) for r in rows}):
        t = fit(Table([r for r in rows if key(r) != group]))
        mine = Table([r for r in rows if key(r) == group])
        errors += list(zip(mine.rows, mine.log_seconds(t) - mine.log_s))
    return errors


def by_chip(r):
    return r["spec"]["chip"]


def by_net(r):
    return r["net"]


for what, key in (("chip", by_chip), ("network", by_net)) if "--left-out" in sys.argv else ():
    errors = left_out(key)
    e = numpy.abs(numpy.expm1([x for _, x in errors]))
    print(f"{what} left out: median |error| {100 * numpy.median(e):.1f} %, mean {100 * numpy.mean(e):.1f} %; log errors: "
          f"half within {quantile(errors, 0.5):.3f}, 80 % {quantile(errors, 0.8):.3f}, 90 % {quantile(errors, 0.9):.3f}")
    show(errors, key)
    show(errors, lambda r: (r["source"], r["precision"], "train" if r["trains"] else "infer"))


def regret(errors, draws=200):
    """Of choosing by predicted cost, for networks that were left out; beside it that of the GPU with the best mean
    cost over all other networks, which is what a rule of thumb would take."""
    cells = collections.defaultdict(dict)
    for r, e in errors:
        cell = (r["source"], r["net"], r["precision"].replace("tf32", "fp32"), r["trains"], r["batch"], r["side"])
        cells[cell][r["gpu"]] = (r["s"], r["s"] * math.exp(e))
    random = numpy.random.default_rng(0)
    chosen, thumb = collections.defaultdict(list), collections.defaultdict(list)
    kinds = collections.defaultdict(list)
    for cell in cells:
        if len(cells[cell]) >= 3:
            kinds[cell[:1] + cell[2:4]].append(cell)
    for kind, members in kinds.items():
        gpus = sorted({g for c in members for g in cells[c]})
        speed = {g: math.exp(-numpy.mean([math.log(cells[c][g][0]) for c in members if g in cells[c]])) for g in gpus}
        for _ in range(draws):
            price = {g: speed[g] * 2 ** random.uniform(-1, 1) for g in gpus}
            for c in members:
                cost = {g: price[g] * cells[c][g][0] for g in cells[c]}
                guess = min(cells[c], key=lambda g: price[g] * cells[c][g][1])
                usual = min(cells[c], key=lambda g: price[g] / speed[g])
                chosen[c[1]].append(cost[guess] / min(cost.values()) - 1)
                thumb[c[1]].append(cost[usual] / min(cost.values()) - 1)
    for net in sorted(chosen):
        print(f"  {net:20} {100 * numpy.mean(chosen[net]):5.1f} %   rule of thumb {100 * numpy.mean(thumb[net]):5.1f} %")
    mean = [numpy.mean([numpy.mean(v) for v in x.values()]) for x in (chosen, thumb)]
    print(f"regret on networks left out: {100 * mean[0]:.1f} % (the GPU that is cheapest for the others: {100 * mean[1]:.1f} %)")


if "--regret" in sys.argv:
    regret(left_out(by_net))


def other_gpu_pairs(errors):
    """Of each row: its log error, the mean log error of its network on one other chip in the same source, and how much
    the pair counts. Of both chips by a fit that did not see them."""
    cells = collections.defaultdict(lambda: collections.defaultdict(list))
    for r, e in errors:
        cells[r["source"], r["net"], r["trains"]][by_chip(r)].append((r, e))
    pairs = []
    for cell in cells.values():
        for name in cell:
            others = [numpy.mean([e for _, e in cell[h]]) for h in cell if h != name]
            pairs += [(dict(r, weight=r["weight"] / len(others)), e, o) for r, e in cell[name] for o in others]
    return pairs


def best_weight(pairs):
    e, o, w = (numpy.array(x) for x in zip(*[(e, o, r["weight"]) for r, e, o in pairs]))
    return min(numpy.linspace(0, 1, 101), key=lambda share: (w * numpy.abs(e - share * o)).sum())


def shifts(errors):
    """The three constants, by name."""
    pairs = other_gpu_pairs(errors)
    weight = best_weight(pairs)
    chosen = []  # with the weight that the other GPUs ask for
    for name in sorted({by_chip(r) for r, _, _ in pairs}):
        of_others = best_weight([p for p in pairs if by_chip(p[0]) != name])
        chosen += [(r, e - of_others * o) for r, e, o in pairs if by_chip(r) == name]
    print(f"a run of the network on another GPU: {len(pairs)} pairs of {len({by_chip(r) for r, _, _ in pairs})} chips; such a shift counts {weight:.2f}")
    for what, tried in (("none of it", [(r, e) for r, e, _ in pairs]), ("all of it", [(r, e - o) for r, e, o in pairs]),
                        ("that share, of the other GPUs'", chosen)):
        print(f"  {what}: half within {quantile(tried, 0.5):.3f} of the logarithm, 90 % within {quantile(tried, 0.9):.3f}")
    other = quantile([(r, e - o) for r, e, o in pairs], 0.9)
    groups, same = collections.defaultdict(list), []
    for r, e in errors:
        groups[r["gpu"], r["net"], r["precision"], r["trains"]].append((r, e))
    within = []
    for group in groups.values():
        for r, e in group:
            known = [(s, x) for s, x in group if (s["source"], s["batch"]) != (r["source"], r["batch"])]
            own = [x for s, x in known if s["source"] == r["source"]]
            across = [x for s, x in known if s["source"] != r["source"]]
            within += [(r, e - numpy.mean(own))] if own else []
            same += [(r, e - numpy.mean(across))] if across else []
    print(f"a run of the network on this GPU: 90 % within {quantile(within, 0.9):.3f} in one source ({len(within)} rows), "
          f"{quantile(same, 0.9):.3f} across frameworks and versions ({len(same)} rows)")
    return {"OTHER_GPU_WEIGHT": weight, "OTHER_GPU_ERROR": other, "SAME_NET_ERROR": quantile(within + same, 0.9)}


def check_shifts(found):
    source = open(os.path.join(os.path.dirname(__file__), "../features/predict/step_shift.c")).read()
    for name, value in found.items():
        there = float(re.search(name + r"\s*\\?\s*([\d.]+)", source).group(1))
        print(f"  {name} {value:.3f}, in step_shift.c {there:.3f}{'' if abs(value - there) <= 0.01 else '  DIFFERS'}")


WORDS = dict(enumerate("no one two three four five six seven eight nine ten".split()))
ENOUGH, ROWS_ENOUGH = 3, 6  # chips or families of a precision, and rows of a group, to say anything of them


def by_arch(r):
    return r["spec"]["arch"]


def by_family(r):
    """resnext and wide_resnet are resnet's"""
    word = re.match(r"[a-z]+", r["net"])[0]
    return {"wide": "resnet", "resnext": "resnet"}.get(word, word)


def by_draw(r):
    """one of ten folds of rows, the same in each run"""
    return zlib.crc32(repr((r["source"], r["gpu"], r["net"], r["batch"], r["side"], r["precision"], r["trains"])).encode()) % 10


# what is left out together, and whose offsets are pooled
SHAPES = {"ORCH_ASKED_KNOWN": (by_draw, by_chip), "ORCH_ASKED_NETWORK": (by_family, by_family), "ORCH_ASKED_CHIP": (by_chip, by_chip),
          "ORCH_ASKED_ARCH": (by_arch, by_chip)}


def groups_of(errors, whose, precision):
    cells = collections.defaultdict(list)
    for r, e in errors:
        if precision in (None, r["precision"]):
            cells[r["source"], whose(r)].append(e)
    return {k: numpy.array(v) for k, v in cells.items() if len(v) >= ROWS_ENOUGH}


def interval(cells):
    """Of a group that is none of these: the offsets' deviation, t for one more draw, the spread."""
    from scipy.stats import t
    offsets = {k: numpy.median(v) for k, v in cells.items()}
    spreads = [numpy.quantile(numpy.abs(v - offsets[k]), 0.9) for k, v in cells.items()]
    n = len(cells)
    return math.sqrt(sum(b * b for b in offsets.values()) / n), t.ppf(0.95, n) * math.sqrt(1 + 1 / n), numpy.quantile(spreads, 0.75)


def half_width(sd, t, spread, runs=0):
    return math.hypot(t * sd / math.sqrt(1 + runs * sd**2 / (spread / 1.645) ** 2), spread)


def widest(intervals):
    return max(intervals, key=lambda i: half_width(*i))


def covered(cells, least, runs=0, draws=50):
    """Shares inside by chip or family, from the others' interval, which is not narrower than that of `least` (cells, or None)."""
    inside, random = collections.defaultdict(list), numpy.random.RandomState(1)
    for k, v in cells.items():
        others = [{o: w for o, w in c.items() if o[1] != k[1]} for c in (cells, least) if c]
        sd, t, wide = widest([interval(o) for o in others if len(o) > 1])
        for _ in range(draws if runs else 1):
            seen = random.permutation(len(v))[:runs]
            shift = v[seen].mean() * sd**2 / (sd**2 + (wide / 1.645) ** 2 / runs) if runs else 0
            inside[k[1]].append((numpy.abs(numpy.delete(v, seen) - shift) <= half_width(sd, t, wide, runs)).mean())
    return [numpy.mean(x) for x in inside.values()]


def intervals():
    """Rows of left_out_errors.inc; prints how well they hold."""
    lines = []
    for shape, (out, whose) in SHAPES.items():
        for precision in (None, "fp64", "fp32", "tf32", "fp16"):
            cells = groups_of(left_out(out), whose, precision)
            least = groups_of(left_out(by_chip), by_chip, precision) if shape == "ORCH_ASKED_ARCH" else None
            if len({k[1] for k in cells}) < ENOUGH:
                continue
            shares, (sd, t, spread) = covered(cells, least), widest([interval(c) for c in (cells, least) if c])
            half, mean = half_width(sd, t, spread), 100 * numpy.mean(shares)
            print(f"  {shape[11:].lower():8} {precision or 'all':5} {len(cells):2} groups: a factor of {math.exp(half):.2f}; {mean:.1f} % inside, mean over what was left out "
                  f"({100 * min(shares):.0f} to {100 * max(shares):.0f} %){'' if 85 <= mean <= 95 else '  NOT 85 to 95'}")
            name = f"ORCH_{precision.upper()}" if precision else "-1"
            lines.append(f"    {{{shape}, {name}, {sd:.4f}, {t:.4f}, {spread:.4f}, {len(cells)}, {mean / 100:.4f}}},")
            for runs in (1, 2, 5) if shape == "ORCH_ASKED_CHIP" and not precision else ():
                print(f"    after {runs} runs on the chip: a factor of {math.exp(half_width(sd, t, spread, runs)):.2f}; {100 * numpy.mean(covered(cells, least, runs)):.1f} % inside")
    return lines


def source():
    return (f"{len(rows)} public measurements of {len({r['net'] for r in rows})} networks on {len({r['gpu'] for r in rows})} GPUs, "
            f"by {WORDS[len({r['source'] for r in rows})]} groups from 2016 to 2025")


def errors_text(lines):
    chips = collections.Counter(by_chip(r) for r in rows)
    texts = sorted(c for c in chips if chips[c] >= ROWS_ENOUGH), sorted({by_family(r) for r in rows} | {re.match(r"[a-z]+", r["net"])[0] for r in rows})
    chips, families = (", ".join(f'"{x}"' for x in t) for t in texts)
    return "\n".join(
        ["/* SPDX-License-Identifier: GPL-3.0-or-later */",
         "/* Written by 'bench/distil.py BUILD DATA --intervals --write': how far off lib/steptime/transfer.c was on what was left out",
         " * of its fit. */",
         "/* clang-format off */",
         "/* shape, precision (-1: all), offsets' deviation, Student's t, spread, groups, share inside the others' interval */",
         "static const struct error_row ERRORS[] = {", *lines, "};",
         "/* with six rows or more */",
         f"static const char *const CHIPS[] = {{{chips}, NULL}};",
         "/* how the names of the networks begin */",
         f"static const char *const FAMILIES[] = {{{families}, NULL}};",
         "/* clang-format on */", ""])


def fit_text():
    v = dict(zip(NAMES_OF, numpy.exp(theta)))
    named = (("fp64", "fp64"), ("fp32", "fp32"), ("tf32", "tf32"), ("fp16", "fp16"), ("bf16", "fp16"), ("fp32_ieee", "fp32"))
    shares = "\n".join(f"    [ORCH_{name.upper()}] = {{{', '.join(format(v[p + ' ' + k], '.4f') for k in SHARES)}}}," for name, p in named)
    archs = "\n".join(f'    {{"{a}", {v["arch " + a]:.4f}, {"true" if any(by_arch(r) == a for r in rows) else "false"}}},' for a in ARCHS)
    scalars = [("MEMORY", v["memory"], ""), ("KERNEL_S", v["kernel_us"], "e-6"), ("KERNEL_BACK_S", v["kernel_back_us"], "e-6"), ("LAUNCH_S", v["launch_us"], "e-6"),
               ("LAUNCH_BACK_S", v["launch_back_us"], "e-6"), ("P", v["p"], ""), ("LAG", P, ""), ("GEFORCE", v["geforce"], "")]
    return "\n".join(
        ["/* SPDX-License-Identifier: GPL-3.0-or-later */",
         "/* Written by 'bench/distil.py BUILD DATA --write': the coefficients of lib/steptime/transfer.c. */",
         "/* clang-format off */",
         f'#define FIT_SOURCE "{source()}"',
         "/* dense, wino, point, group, linear; bf16 and fp32-ieee are taken as fp16 and fp32 */",
         "static const double SHARES[ORCH_PRECISION_COUNT][ORCH_TRANSFER_KINDS] = {", shares, "};",
         "/* architecture, its factor, whether a row is of it */",
         "static const struct fitted_arch FITTED[] = {", archs, "};",
         *(f"#define {n} {x:.4f}{unit}" for n, x, unit in scalars),
         "/* clang-format on */", ""])


def keep(name, text):
    """Writes a file, or says whether it is the same."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib/steptime", name)
    if "--write" in sys.argv:
        open(path, "w").write(text)
    elif "--check" in sys.argv:
        print(f"  {name} {'is what these rows give' if open(path).read() == text else 'DIFFERS'}")


keep("transfer_fit.inc", fit_text())
if "--intervals" in sys.argv:
    keep("left_out_errors.inc", errors_text(intervals()))
if "--shifts" in sys.argv:
    derived = shifts(left_out(by_chip))
    for name, value in derived.items():
        print(f"  {name} {value:.2f}")
    if "--check" in sys.argv:
        check_shifts(derived)


def check(theta):
    """Does orch compute what was fitted? A few rows by its command."""
    worst = 0
    for r in rows[::23]:
        out = orch("predict", "--gpu", r["gpu"], "--net", r["net"], "--input", f"3x{r['side']}x{r['side']}", "--batch",
                   str(r["batch"]), "--precision", r["precision"], "--model", "transferred", "--dataset", "1000",
                   *([] if r["trains"] else ["--forward-only"]))
        free = dict(r, source="lambda")  # its factor is 1: that of the host where most was measured is not the user's
        mine = math.exp(Table([free]).log_seconds(theta)[0])
        off = abs(out["predictions"][0]["step_s"] / mine - 1)
        if off > 0.01:
            print(f"  {r['gpu']} {r['net']} {r['precision']} batch {r['batch']} {'train' if r['trains'] else 'infer'}: {100 * off:.2f} %")
        worst = max(worst, off)
    print(f"orch predict --model transferred differs by at most {100 * worst:.2f} % from the fit")


if "--check" in sys.argv:
    check(theta)
