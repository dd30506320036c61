#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""orch's boosting against scikit-learn's on the same rows: mean relative error and seconds to fit, at first
settings, no tuning on either side. scikit-learn gets what the table says, the GPU's facts and the target's
logarithm, not the roofline, which is what orch adds.

usage: /usr/bin/python3 bench/learn.py BUILD TABLE.csv TARGET [COLUMN=VALUE]
"""
import csv
import json
import math
import os
import subprocess
import sys
import tempfile
import time

import numpy
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor

build, table, target = sys.argv[1:4]
here = os.path.dirname(os.path.abspath(__file__))
FACTS = ["fp32_tflops", "tensor16_tflops", "bandwidth_gbs", "memory_gb", "cores", "sms", "boost_mhz", "l2_mb", "year"]
facts = {}


def gpu(name):
    if name not in facts:
        out = subprocess.run([f"{build}/orch", "gpu", "show", name, "--json"], capture_output=True, text=True)
        shown = json.loads(out.stdout)["gpu"] if out.returncode == 0 else {}
        facts[name] = [shown.get(k) if shown.get(k) is not None else math.nan for k in FACTS]
    return facts[name]


def number(text):
    try:
        return float(text)
    except ValueError:
        return math.nan


def read(path, levels, columns):
    rows = list(csv.DictReader(open(path)))
    x = []
    for row in rows:
        line = []
        for c in columns:
            value = number(row[c])
            line.append(levels.setdefault((c, row[c]), len(levels)) if math.isnan(value) and row[c] else value)
        x.append(line + (gpu(row["gpu"]) if "gpu" in row else []))
    return numpy.array(x, dtype=float), numpy.array([float(r[target]) for r in rows])


with tempfile.TemporaryDirectory() as folder:
    train, test = folder + "/train.csv", folder + "/test.csv"
    subprocess.run([sys.executable, f"{here}/split.py", table, train, test] + sys.argv[4:], check=True)
    by_group = ["--group", sys.argv[4].split("=")[0], "--by-group"] if len(sys.argv) > 4 else []
    out = subprocess.run([f"{build}/orch", "predictor", "eval", "--train", train, "--test", test, "--target", target,
                          "--model", "boost", "--untuned", "--json"] + by_group, capture_output=True, text=True)
    if out.returncode:
        sys.exit(out.stderr)
    left_out = [line.split("'")[1] for line in out.stderr.splitlines() if "left out" in line]
    orch = json.loads(out.stdout)
    header = next(csv.reader(open(train)))
    columns = [c for c in header if c not in left_out + [target, "split"]]
    levels = {}
    x, y = read(train, levels, columns)
    xt, yt = read(test, levels, columns)
    print(f"{len(y)} rows to learn from, {len(yt)} to judge by")
    print(f"orch boost            {100 * orch['mean_relative_error']:6.2f} %  ({orch['box']}; within the 90 %: "
          f"{100 * orch['coverage_90']:.1f} %; {orch['fit_s']:.1f} s with cross-validation and calibration)")
    for name, model in [("scikit-learn boosting", HistGradientBoostingRegressor(max_iter=600)),
                        ("scikit-learn forest", RandomForestRegressor(200, n_jobs=2))]:
        begin = time.perf_counter()
        fill = numpy.nan_to_num(x, nan=-1), numpy.nan_to_num(xt, nan=-1)
        model.fit(fill[0], numpy.log(y))
        seconds = time.perf_counter() - begin
        error = numpy.mean(numpy.abs(numpy.exp(model.predict(fill[1])) - yt) / yt)
        print(f"{name:21} {100 * error:6.2f} %  ({seconds:.1f} s for one fit)")
