#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""How wrong are predictions for numbers beyond those that were learned from? Of each column the rows up to some
value are learned from and the others are asked; where the interval for rows like those seen does not hold, it lacks
so much: half the width (of the logarithm) for a number e times beyond. The share of rows that each such width would
make right is printed, each column counting alike: BEYOND_SPREAD of predictors/learn/predict_rows.c is the least that holds 90 %.

usage: /usr/bin/python3 bench/beyond.py BUILD [--data DIR] [--rows N]
"""
import argparse
import csv
import json
import os
import re
import subprocess
import sys
import tempfile

import numpy

SETS = [("justus_dense", "ms", "batch din dout", "ms_min,ms_max,ms_std"), ("justus_conv", "ms", "batch in_hw cin cout", "ms_min,ms_max,ms_std"),
        ("neusight_gemm", "ms", "m k n", ""), ("neusight_vec", "ms", "rows cols", ""), ("timm_infer", "step_ms", "batch img", "img_per_s"),
        ("ryujaehun_pytorch", "ms_median", "batch_total", "ms_mean,ms_std"), ("jcjohnson_cnn", "total_ms", "batch", "fw_ms,bw_ms,total_std_ms")]
p = argparse.ArgumentParser()
p.add_argument("build")
p.add_argument("--data", default="../shared/data")
p.add_argument("--rows", type=int, default=500)
args = p.parse_args()
if not os.path.isdir(args.data):
    sys.exit(f"no {args.data}: the measurements are not part of orch")
source = open(os.path.join(os.path.dirname(__file__), "../predictors/learn/predict_rows.c")).read()
built_in = float(re.search(r"BEYOND_SPREAD\s*\\?\s*([\d.]+)", source).group(1))
WIDTHS = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 1.0, 1.2]


def ask(rows, target, drop, learn):
    with tempfile.TemporaryDirectory() as folder:
        for name, which in (("train", learn), ("test", ~learn)):
            with open(f"{folder}/{name}.csv", "w") as f:
                w = csv.DictWriter(f, rows[0].keys())
                w.writeheader()
                w.writerows(r for r, chosen in zip(rows, which) if chosen)
        words = ["--drop", drop] if drop else []
        subprocess.run([f"{args.build}/orch", "predictor", "eval", "--train", f"{folder}/train.csv", "--test", f"{folder}/test.csv", "--target", target,
                        "--model", "auto", "--out", f"{folder}/out.csv", "--json", *words], check=True, capture_output=True)
        return numpy.array([[float(a[k]) for k in ("target", "value", "low", "high")] for a in csv.DictReader(open(f"{folder}/out.csv"))])


shares = []
for name, target, columns, drop in SETS:
    table = list(csv.DictReader(open(f"{args.data}/{name}.csv")))
    keep = numpy.random.RandomState(1).permutation(len(table))[: args.rows]
    rows = [table[i] for i in sorted(keep)]
    for column in columns.split():
        x = numpy.array([float(r[column] or "nan") for r in rows])
        known = numpy.isfinite(x) & (x > 0)
        rows_of, x_of = [r for r, k in zip(rows, known) if k], x[known]
        limit = numpy.quantile(x_of, 0.7)
        if not (x_of > limit).any():  # the largest value is that of many rows
            limit = max(x_of[x_of < limit], default=limit)
        if (x_of > limit).sum() < 10 or (x_of <= limit).sum() < 12:
            continue
        answers = ask(rows_of, target, drop, x_of <= limit)
        beyond = numpy.log(x_of[x_of > limit] / x_of[x_of <= limit].max())
        error = numpy.abs(numpy.log(answers[:, 1] / answers[:, 0]))
        half = numpy.log(answers[:, 3] / answers[:, 2]) / 2
        bare = numpy.sqrt(numpy.maximum(half**2 - (built_in * beyond) ** 2, 0))
        inside = [(error <= numpy.hypot(bare, w * beyond)).mean() for w in WIDTHS]
        shares.append(inside)
        print(f"{name:18} {column:12} above {limit:8g}, {len(beyond):4} rows, median {numpy.exp(numpy.median(beyond)):5.2f} times beyond: "
              + " ".join(f"{100 * s:5.1f}" for s in inside), flush=True)
print(f"{'':66}width: " + " ".join(f"{w:5.1f}" for w in WIDTHS))
print(f"{'all, each column alike':73}" + " ".join(f"{100 * s:5.1f}" for s in numpy.mean(shares, axis=0)))
