#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rows of bench/paleo_rows.c in plain Python: the formulas of PALEO (data parallelism, matrix products),
transcribed by us from their description: PALEO's own program is Python too, and could not be had.
usage: paleo_rows.py [--each] ROWS TABLE.csv... prints the seconds, or the time of each step (ms)."""
import csv
import math
import sys
import time

CLOCK, PEAK, BANDWIDTH, GBIT = 560, 5600, 480, 20  # PALEO's K80, ethernet20
PPP, PPP_COMM = 0.62, 0.72
CYCLE = 1 / (1000 * CLOCK)


def comp(flops, ppp=PPP):
    return max(CYCLE, 1000 * (flops / 1e9) / PEAK / ppp) if flops else 0


def mem(size, ppp=PPP):
    return max(CYCLE, 1000 * (size / 2**30) / BANDWIDTH / ppp)


def dims(text, count=4):
    out = [int(v) for v in text.split("x")]
    return out if len(out) == count else [out[0], 1, 1, out[-1]]


def read(path):
    layers = []
    for row in csv.DictReader(open(path)):
        layer = dict(type=row["type"], n=row["layer"], i=dims(row["in_shape"]), o=dims(row["out_shape"]),
                     params=int(row["params"]), first=row["first_conv_no_data_grad"] == "1", pad=row["pad_type"])
        if row["filter_hwio"]:
            layer["f"] = [int(v) for v in row["filter_hwio"].split("x")]
            layer["s"] = [int(v) for v in row["stride_hw"].split("x")]
        layers.append(layer)
    return layers


def same_pad(out, stride, kernel, size):
    return ((out - 1) * stride + kernel - size) // 2


def conv(n, h, w, c, kh, kw, fi, fo, ph, pw, oh, ow, on=None, holes_x=0, holes_f=0):
    on = n if on is None else on
    flops = 2 * kh * kw * fi * oh * ow * fo * on * (1 - holes_f)
    if holes_x > 0:
        flops += 2 * n * h * w * c * (1 - holes_x)
    return (comp(flops) + mem(4 * n * (h + 2 * ph) * (w + 2 * pw) * c) + mem(4 * kh * kw * fi * fo * (1 - holes_f))
            + mem(4 * on * oh * ow * fo))


def passes(layer, n):
    """forward and backward ms of a batch of n"""
    (_, h, w, c), (_, oh, ow, oc) = layer["i"], layer["o"]
    if layer["type"] == "conv2d":
        kh, kw, ci, co = layer["f"]
        sh, sw = layer["s"]
        ph = same_pad(oh, sh, kh, h) if layer["pad"] == "SAME" else 0
        pw = same_pad(ow, sw, kw, w) if layer["pad"] == "SAME" else 0
        forward = conv(n, h, w, c, kh, kw, ci, co, ph, pw, oh, ow)
        eh, ew = (oh - 1) * sh + 1, (ow - 1) * sw + 1
        pbh, pbw = kh - 1 - ph, kw - 1 - pw
        pah, paw = (h + kh - 1) - eh - pbh, (w + kw - 1) - ew - pbw
        eh += abs(pbh - pah) == 1
        ew += abs(pbw - paw) == 1
        gh, gw = min(pbh, pah), min(pbw, paw)
        holes = (eh * ew - oh * ow) / (eh * ew)
        data = 0 if layer["first"] else conv(n, eh, ew, co, kh, kw, co, ci, gh, gw, h, w, holes_x=holes)
        fh, fw = (0, 0) if layer["pad"] == "VALID" else (gh, gw)
        weights = conv(ci, h, w, n, eh, ew, n, co, fh, fw, kh, kw, on=ci, holes_f=holes)
        return forward, data + weights
    if layer["type"] == "pool2d":
        kh, kw = layer["f"][:2]
        t = comp(2 * kh * kw * c * oh * ow * n) + mem(4 * n * h * w * c) + mem(4 * n * oh * ow * oc)
        return t, t
    if layer["type"] == "dropout":
        t = comp(n * h * w * c) + 2 * mem(4 * n * h * w * c)
        return t, t
    return 0, 0


def step(layers, batch, workers, strong, scheme):
    each = math.ceil(batch / workers) if strong else batch
    forward = backward = 0
    for layer in layers:
        f, b = passes(layer, each)
        forward, backward = forward + f, backward + b
    size = 4 * sum(layer["params"] for layer in layers)
    update = comp(2 * (size // 4), 1) + 3 * mem(size, 1)
    net = 1000 * size / (GBIT / 8 * 1e9) / PPP_COMM
    rounds = math.ceil(math.log(workers) / math.log(2))
    communication = [2 * net * (workers - 1), 2 * rounds * net, rounds * net, net][scheme]
    return forward + backward + update + communication


each = sys.argv[1] == "--each"
rows, *paths = sys.argv[2:] if each else sys.argv[1:]
tables = [read(path) for path in paths]
begin = time.perf_counter()
times = [step(tables[i // 128 % len(tables)], 32 + i // 128 // len(tables) % 97, 1 + i % 16, i // 64 % 2 == 1,
              i // 16 % 4) for i in range(int(rows))]
seconds = time.perf_counter() - begin
print("\n".join(f"{t:.17g}" for t in times) if each else f"{seconds:.6f}")
