#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fits the constants of lib/steptime/tensor_kernels_fit.inc: kernels of inference servers on tensor cores (products,
attention over prompts, experts, collectives), from the GPU's data sheet. The measurements (aiconfigurator's, of A100,
H100, L40S and B200) stay outside.

Each constant begins at a value with a width (as a logarithm), and the fit is the least mean |log error|, each GPU and
format counting the same, pulled towards where it began (least squares on 350 rows of each, large errors rooted).
--left-out fits without each system in turn and judges the constants on it. A kind that the other systems lack (4 bits)
has its begin. --check BUILD compares this implementation with the program's, row by row.

--split DIR writes KIND-SYSTEM-train.csv and -test.csv there, with each system left out, for 'orch predictor eval'.

usage: /usr/bin/python3 bench/distil_serving.py DATA [--left-out | --check BUILD | --split DIR] [KIND...]
(DATA: a folder with aic_gemm.csv, aic_attention.csv, aic_moe.csv and aic_nccl.csv; KIND: gemm, attention, moe, nccl)
"""
import csv
import os
import re
import subprocess
import sys

import numpy
from scipy.optimize import least_squares

HERE = os.path.dirname(os.path.abspath(__file__))
TILES = numpy.array([(256, 256), (256, 128), (128, 256), (128, 128), (128, 64), (64, 256), (256, 64), (64, 128), (64, 64), (32, 128),
                     (128, 32), (32, 64), (64, 32), (32, 32), (16, 128), (16, 64), (16, 32)], float)
SYSTEMS = {"A100-SXM4-80GB": "A100-SXM4-80GB", "H100 SXM 80GB": "H100-SXM5", "L40S": "L40S", "B200 SXM": "B200"}
BYTES = {"bfloat16": 2, "fp8": 1, "fp8_block": 1, "nvfp4": 0.5625, "int4_wo": 0.53, "w4a16_mxfp4": 0.53, "w4a8_mxfp4_mxfp8": 0.53}
PEAKS = {"bfloat16": "tensor16", "int4_wo": "tensor16", "w4a16_mxfp4": "tensor16", "nvfp4": "fp4"}
SMALL = .08  # below such an error its square counts
COMMON = dict(share=(1.1, .2), energy=(1., .15), memory=(.87, .1), cache_rate=(40, .7), norm=(3., .5), start=(5500, .5),
              graphics=(.75, .2), graphics_cache=(.5, .3))
PRODUCT = dict(COMMON, fill=(40, 1.), tile=(15, .5), rate_power=(.85, .12), wave=(.42, .3), cached=(1., .5), pair=(.5, .3), serial=(1., 1.))
QUANTISED = dict(quantise=(1., 1.), row=(200, 1.))
BEGINS = {
    "gemm bfloat16": dict(PRODUCT, split=(4500, .4)),
    "gemm fp8": dict(PRODUCT, quantise=(1., 1.), row=(1000, 1.), start=(10500, .5)),
    "gemm fp8_block": dict(PRODUCT, **QUANTISED, host_s=(130e-6, 1.)),
    "gemm nvfp4": dict(PRODUCT, **QUANTISED, start=(14000, .5)),
    "attention": dict(COMMON, share=(1., .2), energy=(1., .2), memory=(.8, .3), start=(0, 0), fill=(40, 1.), tile=(.3, 1.),
                      wave=(.5, .4), scores=(4., .5), overlapped=(2.3, .3), softmax_norm=(1.5, .5), longest=(1., .5), cache_fp8=(1., .7),
                      row=(1500, 1.), block=(3000, .7), start_s=(4e-6, .3), converted=(220, .3)),
    "moe wide": dict(COMMON, share=(.8, .3), energy=(1., .2), memory=(.8, .3), norm=(2., .5), start=(50000, .6), tile=(40, .7),
                     expert=(50, .7), spread=(1., .5), skew=(.3, 1.), chosen_values=(.5, 1.), token_values=(1., 1.), pair_values=(3., 1.)),
    "nccl": dict(start=(12000, 1.), hop_s=(1e-6, 1.), share=(.75, 1.), between=(10000, 1.), shared=(1., 1.)),
}
BEGINS["moe narrow"] = BEGINS["moe wide"]


def boards():
    text = open(f"{HERE}/../lib/steptime/kernel_times.c").read()
    years = {a: int(y) for a, y in re.findall(r'\{"([A-Z]\w+)", (\d{4})\}', text)}
    rows = {r["name"]: r for r in csv.DictReader(open(f"{HERE}/../share/hardware/gpus.csv"))}
    table = {}
    for system, name in SYSTEMS.items():
        r = rows[name]
        n = lambda key, usual=0.: float(r[key]) if r[key] else usual
        table[system] = dict(sms=n("sms"), hertz=n("boost_mhz", 1900) * 1e6, bandwidth=n("bandwidth_gbs") * 1e9, watts=n("watts"),
                             cache=n("l2_mb", 60) * 1e6, tensor16=n("tensor16_tflops") * 1e12, fp8=n("fp8_tflops") * 1e12,
                             fp4=n("fp4_tflops") * 1e12, link=(n("nvlink_gbs") / 2 or 2 ** n("pcie") * 1.96922) * 1e9, is_linked=n("nvlink_gbs") > 0,
                             year=years[r["arch"]], graphics=not r["chip"].endswith(("100", "110")))
        table[system]["pairs"] = table[system]["year"] >= 2022 and not table[system]["graphics"]
    return table


BOARDS = boards()


def device(c, g, peak):
    graphics = c["graphics"] if g["graphics"] else 1
    carried = g["watts"] / (c["energy"] * 2 ** (-(g["year"] - 2020) / 3)) * peak / g["tensor16"] * 1e12
    rate = ((c["share"] * graphics * peak) ** -6 + carried ** -6) ** (-1 / 6) if peak else numpy.nan
    cache_rate = c["cache_rate"] * (c["graphics_cache"] if g["graphics"] else 1) * g["sms"] * g["hertz"]
    return rate, g["bandwidth"] * c["memory"], cache_rate, 1 / g["hertz"]


def norm_of(a, b, norm):
    longer, shorter = numpy.maximum(a, b), numpy.minimum(a, b)
    return longer * (1 + (shorter / longer) ** norm) ** (1 / norm)


def product_s(c, g, dtype, r):
    m, n, k = (r[x] for x in ("m", "n", "k"))
    peak, each = g[PEAKS.get(dtype, "fp8")], BYTES[dtype]
    rate, bandwidth, cache_rate, cycle = device(c, g, peak)
    relative = (peak / g["sms"] * cycle / 2048) ** c["rate_power"] * (c["pair"] if g["pairs"] else 1)
    moved = lambda b, used: b / (1 + (c["cached"] * g["cache"] / used) ** 3) / bandwidth + b / cache_rate
    out, weights, factor = m * n, each * k * n, each * m * k
    used = (6 if dtype in ("bfloat16", "fp8") else 1) * (weights + 2 * out) + factor
    best = numpy.full(len(m), numpy.inf)
    for parts in (1, 2, 4, 8, 16) if "split" in c else (1,):
        depth = numpy.ceil(k / parts) + c["fill"] * relative
        tm, tn = TILES[:, 0], TILES[:, 1]
        waves = numpy.ceil(m[:, None] / tm) * numpy.ceil(n[:, None] / tn) * parts / g["sms"]
        waves = numpy.maximum(1, waves + c["wave"] * (numpy.ceil(waves) - waves))
        tiles = waves * 2 * tm * tn * (1 + c["tile"] * relative * (1 / tm + 1 / tn))
        rows, columns = numpy.minimum(64, m), numpy.minimum(64, n)
        if dtype == "fp8":
            rows, columns = numpy.where(m > 128, 128, rows), 64 + 0 * n
        tiles = numpy.where((tm >= rows[:, None]) & (tn >= columns[:, None]), tiles, numpy.inf)
        arithmetic = numpy.maximum(tiles.min(1) * g["sms"] / rate, c["serial"] * cycle) * depth
        s = norm_of(arithmetic, moved(weights + factor + 2 * out + (4 * parts * out if parts > 1 else 0), used), c["norm"])
        s = s + (c["split"] * cycle if parts > 1 else 0)
        best = numpy.where((parts == 1) | (numpy.ceil(k / parts) >= 256), numpy.minimum(best, s), best)
    s = best + c["start"] * cycle
    if "quantise" in c:
        s = s + c["quantise"] * moved(3 * m * k, 3 * m * k) + c["row"] * m / g["sms"] * cycle
    return norm_of(s, c["host_s"], 4) if "host_s" in c else s


def attention_s(c, g, dtype, r):
    rate, bandwidth, cache_rate, cycle = device(c, g, g["tensor16"])
    b, s, heads, keys_of, d, w = (r[x] for x in ("batch_size", "isl", "num_heads", "num_key_value_heads", "head_dim", "window_size"))
    scores = c["scores"] * (c["overlapped"] if g["pairs"] else 1)
    is_fp8, is_flash3 = dtype != "bfloat16", g["pairs"] and g["year"] < 2024
    packs, converts = is_flash3 or (is_fp8 and not g["pairs"]), is_fp8 and not is_flash3 and d == 192
    shared, keys = numpy.where(packs | (s <= 1), heads / keys_of, 1), numpy.where((w > 0) & (w < s), w, s)
    fill, best = c["fill"] * (rate / g["sms"] * cycle / 2048) ** .85, numpy.inf
    for queries in (16., 32., 64., 128.):
        tokens = queries / shared
        mean, longest = (s + numpy.minimum(tokens, s)) / 2, s
        mean = numpy.where(keys < s, numpy.minimum(keys + tokens / 2, mean), mean)
        longest = numpy.where(keys < s, numpy.minimum(keys + tokens, s), s)
        mean, longest = numpy.ceil(mean / 64) * 64, numpy.ceil(longest / 64) * 64
        products = 4 * queries * numpy.maximum(d, 64) * numpy.where(converts, cycle / c["converted"], g["sms"] / rate * (1 + c["tile"] * 64 / queries))
        key_s = norm_of(products, queries / scores * cycle, c["softmax_norm"])
        blocks = b * heads / shared * numpy.ceil(s * shared / queries) / g["sms"]
        block = c["block"] * cycle
        whole = ((mean + fill) * key_s + block) * (blocks + c["wave"] * (numpy.ceil(blocks) - blocks))
        best = numpy.minimum(best, numpy.maximum(whole, c["longest"] * ((longest + fill) * key_s + block)))
    made = c["cache_fp8"] * (keys_of + g["pairs"] * heads) if is_fp8 else 0
    kernels = 2 + is_flash3 * (s > 1) + (is_flash3 and is_fp8)
    moved = lambda n: n / (1 + (g["cache"] / n) ** 3) / bandwidth + n / cache_rate
    row = c["row"] * numpy.minimum(1, keys_of * d / 512) * b * s / g["sms"] * cycle
    cached = norm_of(moved(4 * b * s * d * (2 * keys_of + made)), row, 2)
    return norm_of(best, moved(4 * b * s * d * (heads + keys_of)), c["norm"]) + cached + c["start_s"] * kernels


def experts_s(c, g, dtype, r):
    rate, bandwidth, _, cycle = device(c, g, g[PEAKS.get(dtype, "fp8")])
    t, h, i, k, e, tp, ep = (r[x] for x in ("num_tokens", "hidden_size", "inter_size", "topk", "num_experts", "moe_tp_size", "moe_ep_size"))
    inner, here, law = i / tp, numpy.maximum(1, e / ep), r["distribution"] != "balanced"
    pairs = t * k / ep * numpy.where(law, numpy.minimum(ep, ep ** c["skew"]), 1)
    used = here * (1 - numpy.exp(-pairs / here / numpy.where(law, c["spread"], 1)))
    used = numpy.minimum(used, numpy.maximum(pairs, 1))
    full = 16 * 2 ** numpy.maximum(0, numpy.ceil(numpy.log2(numpy.maximum(pairs / used, 1) / 16 + 1e-9)))
    rows = used * numpy.minimum(c["tile"], full) / 2 + pairs
    values = 2 * h * (c["chosen_values"] * t * k + c["token_values"] * t) + pairs * (2 * h * c["pair_values"] + 6 * inner)
    moved = (BYTES[dtype] * 3 * used * h * inner + values) / bandwidth
    return norm_of(6 * rows * h * inner / rate, moved, c["norm"]) + (c["start"] + c["expert"] * here) * cycle


def collective_s(c, g, dtype, r):
    n, cycle = r["num_gpus"], 1 / g["hertz"]
    steps = (n - 1) * numpy.where(r["op_name"] == "all_reduce", 2, 1)
    hops = numpy.where(r["op_name"] == "alltoall", 3, steps)
    shared = 1 if g["is_linked"] else (n / 2) ** c["shared"]
    whole = r["message_size"] * (2 if dtype == "half" else 1) * (steps + .5) / n / (c["share"] * g["link"]) * shared
    return c["start"] * cycle + c["hop_s"] * hops + whole + numpy.sqrt(c["between"] * cycle * whole)


MODELS = {"gemm": product_s, "attention": attention_s, "moe": experts_s, "nccl": collective_s}
FORMATS = {"gemm": "gemm_dtype", "attention": "kv_cache_dtype", "moe": "moe_dtype", "nccl": "nccl_dtype"}


def constants_of(kind, _, dtype):
    """The name of the constants for a row."""
    if kind == "gemm":
        return f"gemm {dtype}"
    if kind == "moe":
        return "moe wide" if PEAKS.get(dtype) == "tensor16" else "moe narrow"
    return kind


def read(folder, kind):
    """{(system, format): columns}, and the order of the rows in the file."""
    rows = list(csv.DictReader(open(f"{folder}/aic_{kind}.csv")))
    groups = {}
    for at, r in enumerate(rows):
        groups.setdefault((r["gpu"], r[FORMATS[kind]]), []).append(at)
    words = ("gpu", "software", "kernel_source", "distribution", "op_name", "split", "attn_dtype", FORMATS[kind])
    return {key: dict({c: numpy.array([rows[i][c] if c in words else float(rows[i][c] or 0) for i in at]) for c in rows[0]}, at=at)
            for key, at in groups.items()}


def forecast(kind, fitted, key, r):
    return MODELS[kind](fitted[constants_of(kind, *key)], BOARDS[key[0]], key[1], r) * 1e3


def fit(kind, name, groups):
    begin = BEGINS[name]
    start, width = (numpy.array([v[i] for v in begin.values()]) for i in (0, 1))
    if not groups:
        return {n: v[0] for n, v in begin.items()}
    draw = numpy.random.default_rng(0)
    sample = []
    for key, r in groups.items():
        some = draw.permutation(len(r["ms"]))[:350]
        sample.append((key, {c: numpy.asarray(v)[some] for c, v in r.items()}))
    constants = lambda y: dict(zip(begin, start * numpy.exp(y * width)))

    def residuals(y):
        parts = [numpy.sqrt(.003) * y]
        for key, r in sample:
            e = numpy.log(forecast(kind, {name: constants(y)}, key, r) / r["ms"])
            parts.append(numpy.sqrt((numpy.sqrt(1 + (e / SMALL) ** 2) - 1) * SMALL / len(sample) / len(e)))
        return numpy.concatenate(parts)

    return constants(least_squares(residuals, numpy.zeros(len(start)), max_nfev=25, diff_step=1e-3).x)


def fit_all(kind, groups):
    names = sorted({constants_of(kind, *key) for key in groups} | {n for n in BEGINS if n.split()[0] == kind})
    return {n: fit(kind, n, {key: r for key, r in groups.items() if constants_of(kind, *key) == n}) for n in names}


def left_out(folder, kinds):
    print("| kernels | left out | rows | mean error | median of forecast/measured |\n| --- | --- | --- | --- | --- |")
    for kind in kinds:
        groups, total, own = read(folder, kind), [], []  # own: not launched by the host
        for system in SYSTEMS:
            fitted = fit_all(kind, {key: r for key, r in groups.items() if key[0] != system})
            for key, r in groups.items():
                if key[0] == system:
                    ratio = forecast(kind, fitted, key, r) / r["ms"]
                    total.append(numpy.abs(ratio - 1))
                    own += [] if key[1] == "fp8_block" and kind == "gemm" else [total[-1]]
                    print(f"| {kind} {key[1] if kind != 'nccl' else 'collectives ' + key[1]} | {system} | {len(ratio)} | "
                          f"{100 * numpy.mean(total[-1]):.0f} % | {numpy.median(ratio):.2f} |", flush=True)
        for name, some in {"all": total, "all but fp8_block": own}.items():
            if name == "all" or len(own) < len(total):
                print(f"| {kind} | {name} | {sum(map(len, some))} | {100 * numpy.mean(numpy.concatenate(some)):.1f} % | |", flush=True)


def check(folder, build, kinds):
    """Fitted anew, so a moved constant shows, too: the table says by how much the two differ at most."""
    for kind in kinds:
        groups = read(folder, kind)
        lines = subprocess.run([f"{build}/bench_row_kernels", f"{folder}/aic_{kind}.csv"], capture_output=True, text=True, check=True)
        ours, fitted = numpy.array(lines.stdout.split(), float), fit_all(kind, groups)
        for key, r in groups.items():
            theirs = forecast(kind, fitted, key, r)
            error = numpy.mean(numpy.abs(ours[r["at"]] / r["ms"] - 1))
            print(f"{kind} {key[0]} {key[1]}: mean error {100 * error:.1f} %; at most "
                  f"{100 * numpy.max(numpy.abs(ours[r['at']] / theirs - 1)):.1f} % from this script")


def split(folder, out, kinds):
    for kind in kinds:
        rows = list(csv.DictReader(open(f"{folder}/aic_{kind}.csv")))
        for system in SYSTEMS:
            for name in ("train", "test"):
                with open(f"{out}/{kind}-{SYSTEMS[system]}-{name}.csv", "w") as file:
                    writer = csv.DictWriter(file, [c for c in rows[0] if c != "split"], extrasaction="ignore")
                    writer.writeheader()
                    writer.writerows(r for r in rows if (r["gpu"] == system) == (name == "test"))


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    folder, rest = sys.argv[1], sys.argv[2:]
    kinds = [w for w in rest if w in MODELS] or list(MODELS)
    if "--left-out" in rest:
        left_out(folder, kinds)
    elif "--split" in rest:
        split(folder, rest[rest.index("--split") + 1], kinds)
    elif "--check" in rest:
        check(folder, rest[rest.index("--check") + 1], kinds)
    else:
        for kind in kinds:
            for name, constants in fit_all(kind, read(folder, kind)).items():
                print(name, " ".join(f"{n} {v:.3g}" for n, v in constants.items()), flush=True)


main()
