#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""orch's predictors against scikit-learn's on the same folds of public measurements: rows at random, networks never
seen, GPUs never seen ("gpu"), chips never seen ("chip": all boards of one are left out together). Each set is cut to --rows rows (drawn once, seed 1); each cell has up to --folds folds.

scikit-learn gets the table's columns, the GPU's facts, counts of networks where the set has none, operations, bytes
and a roofline, and is tuned in each fold by 3-fold cross-validation (by the same kind of group) over a grid, on log
ms and on log ms over the roofline: forest, histogram boosting, ridge, MLP. orch gets the table's columns and finds
the rest itself; nobody tells it which question is asked.

Printed: mean relative error, orch's over the best of scikit-learn's (the best on the very rows that are judged by,
which is hard on orch) with a paired bootstrap 95 % interval; the share of rows within orch's 90 % interval, the 95 %
interval of that share, and how wide orch's interval is; then the geometric mean of the ratios. Rows of one GPU or
network never seen are in or out together, so there it is groups that are counted, not rows: as many rows as they are
worth (Korn and Graubard 1998). A share whose interval does not reach 87 % is marked LOW; where rows are the unit, one
that does not go down to 93 % is marked HIGH.

usage: /usr/bin/python3 bench/folds.py BUILD [--data DIR] [--sets a,b] [--cells random,net,gpu] [--rows N] [--folds N]
       [--cache DIR] [--only sklearn|orch] [--orch OPTIONS]
"""
import argparse
import csv
import hashlib
import json
import math
import os
import subprocess
import sys
import tempfile
import time
import warnings

import numpy

warnings.filterwarnings("ignore")
SETS = {  # target, column of networks, of GPUs (None: too few of them), columns that sklearn must not see
    "justus_conv": ("ms", None, "gpu", "ms_min ms_max ms_std"),
    "justus_dense": ("ms", None, "gpu", "ms_min ms_max ms_std"),
    "neusight_gemm": ("ms", None, "gpu", ""),
    "neusight_conv": ("ms", None, "gpu", ""),
    "neusight_vec": ("ms", None, "gpu", ""),
    "neusight_e2e": ("e2e_ms", "net", "gpu", "fw_ms bw_ms"),
    "timm_train": ("step_ms", "net", None, "img_per_s"),
    "timm_infer": ("step_ms", "net", "gpu", "img_per_s"),
    "ryujaehun_pytorch": ("ms_median", "net", "gpu", "ms_mean ms_std"),
    "jcjohnson_cnn": ("total_ms", "net", "gpu", "fw_ms bw_ms total_std_ms"),
    "tf_benchmarks": ("step_ms", "net", None, "img_per_s"),
    "lambda_train": ("throughput", None, "gpu", ""),
}
# boards of one chip: whoever leaves a chip out leaves all of them out
CHIPS = {"A100-PCIE-40GB": "A100", "A100-PCIE-80GB": "A100", "A100-SXM4-40GB": "A100", "MI250": "MI210", "TITAN Xp": "GTX 1080 Ti"}
FACTS = ["fp32_tflops", "fp16_tensor_tflops", "mem_gb", "bw_gbs", "sms", "cores", "boost_mhz", "l2_mb", "year"]

p = argparse.ArgumentParser()
p.add_argument("build")
p.add_argument("--data", default="../shared/data")
p.add_argument("--sets", default=",".join(SETS))
p.add_argument("--cells", default="random,net,gpu")
p.add_argument("--rows", type=int, default=1600)
p.add_argument("--folds", type=int, default=3)
p.add_argument("--cache")
p.add_argument("--only")
p.add_argument("--say", action="store_true")
p.add_argument("--orch", default="--model auto")
args = p.parse_args()
if not os.path.isdir(args.data):
    sys.exit(f"no {args.data}: the measurements are not part of orch")


def table(name):
    with open(f"{args.data}/{name}.csv") as f:
        return list(csv.DictReader(f))


gpus = {r["gpu"]: [float(r[k] or "nan") for k in FACTS] for r in table("gpu_features")}
nets = {r["net"]: r for r in table("networks")}


def number(text):
    try:
        return float(text)
    except (TypeError, ValueError):
        return math.nan


# ---- what scikit-learn sees ---------------------------------------------------------------------


def work(row):
    """operations and bytes of a row, where they can be known"""
    g = {k: number(row.get(k)) for k in row}
    get = lambda k, d=math.nan: g.get(k, d)
    rounds = 3 if row.get("opt", "none") != "none" or row.get("mode", "") == "train" else 1
    if "in_hw" in row:
        side, k = g["in_hw"], g["kernel"]
        moved = side if get("pad_same") == 1 else side - k + 1 + 2 * get("pad", 0)
        out = math.ceil(moved / g["stride"])
        return (rounds * 2 * g["batch"] * out * out * k * k * g["cin"] * g["cout"],
                rounds * 4 * (g["batch"] * (side * side * g["cin"] + out * out * g["cout"]) + k * k * g["cin"] * g["cout"]))
    if "din" in row:
        b, i, o = g["batch"], g["din"], g["dout"]
        return rounds * 2 * b * i * o, rounds * 4 * (b * (i + o) + i * o)
    if "k" in row:
        b, m, k, n = (g[x] for x in "bmkn")
        return 2 * b * m * k * n, 4 * b * (m * k + k * n + m * n)
    if "cols" in row:
        return g["rows"] * g["cols"], 12 * g["rows"] * g["cols"]
    if "hidden" in row:
        tokens, h = g["batch"] * g["seq"], g["hidden"]
        macs = g["layers"] * tokens * (4 * h * h + 2 * h * g["ff"] + 2 * g["seq"] * h) + tokens * h * g["vocab"]
        return rounds * 2 * macs, rounds * 4 * g["layers"] * tokens * (12 * h + g["heads"] * g["seq"])
    batch = get("batch", get("batch_per_gpu", get("batch_total", math.nan) / get("gpus", 1)))
    known = row if "gmacs" in row else nets.get(row.get("net", "").replace("-v1", ""), {})
    rounds = 1 if row.get("mode") == "infer" else 3
    return (rounds * 2e9 * number(known.get("gmacs")) * batch,
            rounds * 4e6 * (3 * number(known.get("macts_M")) * batch + number(known.get("params_M"))))


def features(rows, spec):
    hidden = set(spec[3].split()) | {spec[0], "split"}
    columns = [c for c in rows[0] if c not in hidden]
    x, names = [], []
    for c in columns:
        values = [number(r[c]) for r in rows]
        if all(math.isnan(v) == (r[c] == "") for v, r in zip(values, rows)):
            x.append(values)
            names.append((c, "number"))
        else:
            levels = {v: i for i, v in enumerate(sorted({r[c] for r in rows}))}
            x.append([levels[r[c]] for r in rows])
            names.append((c, "category"))
    known = numpy.array([gpus.get(r.get("gpu"), [math.nan] * len(FACTS)) for r in rows])
    done = numpy.array([work(r) for r in rows])
    if "net" in rows[0] and "gmacs" not in rows[0]:
        for k in ("params_M", "gmacs", "macts_M"):
            x.append([number(nets.get(r["net"].replace("-v1", ""), {}).get(k)) for r in rows])
            names.append((k, "number"))
    roof = 1e3 * numpy.maximum(done[:, 0] / (known[:, 0] * 1e12), done[:, 1] / (known[:, 3] * 1e9))
    for i, k in enumerate(FACTS):
        x.append(known[:, i])
        names.append((k, "number"))
    for k, v in (("flops", done[:, 0]), ("bytes", done[:, 1]), ("roofline", roof)):
        x.append(v)
        names.append((k, "number"))
    return numpy.array(x, dtype=float).T, names, roof


def spread_out(x, names, train):
    """one-hot categories, logarithms and scales by the rows to learn from: for ridge and MLP"""
    out = []
    for j, (_, kind) in enumerate(names):
        v = x[:, j]
        if kind == "category":
            out += [(v == level).astype(float) for level in sorted(set(v[train]))[:60]]
            continue
        missing = numpy.isnan(v)
        v = numpy.where(missing, numpy.nanmedian(v[train]) if (~missing[train]).any() else 0, v)
        forms = [v, numpy.log(numpy.maximum(v, 1e-12))] if (v > 0).all() else [v]
        for f in forms:
            out.append((f - f[train].mean()) / (f[train].std() or 1))
        if missing.any():
            out.append(missing.astype(float))
    return numpy.clip(numpy.array(out).T, -10, 10)


def sklearn_answers(x, names, roof, y, groups, train, test):
    from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
    from sklearn.linear_model import Ridge
    from sklearn.model_selection import GroupKFold, KFold
    from sklearn.neural_network import MLPRegressor
    filled = numpy.where(numpy.isnan(x), -1, x)
    spread = spread_out(x, names, train)
    grids = {
        "forest": (filled, [lambda f=f, leaf=leaf: RandomForestRegressor(150, max_features=f, min_samples_leaf=leaf, n_jobs=1, random_state=0)
                            for f, leaf in ((0.4, 1), (1.0, 1), (0.4, 3))]),
        "boosting": (x, [lambda r=r, l=l, i=i: HistGradientBoostingRegressor(learning_rate=r, max_leaf_nodes=l, max_iter=i, min_samples_leaf=5, random_state=0)
                         for r, l, i in ((0.1, 31, 300), (0.06, 15, 500), (0.06, 63, 300))]),
        "ridge": (spread, [lambda a=a: Ridge(a) for a in (0.01, 0.1, 1, 10, 100)]),
        "mlp": (spread, [lambda a=a: MLPRegressor((100, 100), alpha=a, max_iter=300, early_stopping=len(train) > 300, n_iter_no_change=15, random_state=0)
                         for a in (1e-3, 1e-1)]),
    }
    log = numpy.log(y)
    offsets = [numpy.zeros(len(y))]
    if numpy.isfinite(roof).mean() > 0.5:
        offsets.append(numpy.where(numpy.isfinite(roof) & (roof > 0), numpy.log(numpy.where(roof > 0, roof, 1)), 0))
    counts = len(set(groups[train])) if groups is not None else 0
    few = numpy.array(train)
    if len(few) > 1000:
        few = numpy.random.RandomState(0).choice(few, 1000, replace=False)
    inner = list(GroupKFold(min(3, counts)).split(few, groups=groups[few]) if counts > 1 else KFold(3, shuffle=True, random_state=0).split(few))
    answers, chosen = {}, {}
    for name, (data, models) in grids.items():
        tried = []
        for o, offset in enumerate(offsets):
            for m, make in enumerate(models):
                errors = []
                for a, b in inner:
                    a, b = few[a], few[b]
                    fitted = make().fit(data[a], log[a] - offset[a])
                    errors.append(numpy.abs(numpy.exp(numpy.clip(fitted.predict(data[b]) + offset[b] - log[b], -20, 20)) - 1))
                tried.append((numpy.concatenate(errors).mean(), o, m))
        _, o, m = min(tried)
        fitted = models[m]().fit(data[train], log[train] - offsets[o][train])
        answers[name] = numpy.exp(fitted.predict(data[test]) + offsets[o][test]).tolist()
        chosen[name] = [o, m]
    if len(offsets) > 1:  # a constant times the roofline
        answers["constant"] = (roof[test] * numpy.median(y[train] / roof[train])).tolist()
    return answers


# ---- folds --------------------------------------------------------------------------------------


def folds_of(rows, cell, spec, count):
    """(train, test, groups) of each fold"""
    n = len(rows)
    column = {"random": None, "net": spec[1], "gpu": spec[2], "chip": spec[2]}[cell]
    if cell != "random" and not column:
        return []
    if cell == "random":
        part = numpy.random.RandomState(2).permutation(n) % 5
        groups = None
        tests = [numpy.flatnonzero(part == k) for k in range(5)]
    else:
        groups = numpy.array([CHIPS.get(r[column], r[column]) if cell == "chip" else r[column] for r in rows])
        names = sorted(set(groups), key=lambda g: hashlib.md5(g.encode()).hexdigest())
        if len(names) < 2:
            return []
        parts = names if cell in ("gpu", "chip") or len(names) < 8 else [set(names[k::5]) for k in range(5)]
        tests = [numpy.flatnonzero([g in p if isinstance(p, set) else g == p for g in groups]) for p in parts]
        tests = [t for t in tests if len(t) >= 3]
    tests = tests if n <= 400 else tests[: max(count, 5 if cell in ("gpu", "chip") else count)]
    return [(numpy.setdiff1d(numpy.arange(n), t), t, groups) for t in tests]


def orch_answers(rows, spec, train, test, folder):
    for name, which in (("train", train), ("test", test)):
        with open(f"{folder}/{name}.csv", "w") as f:
            w = csv.DictWriter(f, rows[0].keys())
            w.writeheader()
            w.writerows(rows[i] for i in which)
    out = subprocess.run([f"{args.build}/orch", "predictor", "eval", "--train", f"{folder}/train.csv", "--test", f"{folder}/test.csv",
                          "--target", spec[0], "--out", f"{folder}/out.csv", "--json"] + args.orch.split(), capture_output=True, text=True)
    if out.returncode:
        sys.exit(out.stderr)
    said = json.loads(out.stdout)
    answers = list(csv.DictReader(open(f"{folder}/out.csv")))
    return said, numpy.array([[float(a[k]) for k in ("value", "low", "high")] for a in answers])


def cached(key, make):
    if not args.cache:
        return make()
    os.makedirs(args.cache, exist_ok=True)
    path = f"{args.cache}/{hashlib.md5(key.encode()).hexdigest()}.json"
    if not os.path.exists(path):
        value = make()
        with open(path, "w") as f:
            json.dump(value, f)
    return json.load(open(path))


def share_interval(inside, clusters):
    """95 % interval of a share (Clopper and Pearson) for as many rows as clustered ones are worth"""
    from scipy.stats import beta, t
    n, p, names = len(inside), inside.mean(), sorted(set(clusters))
    worth = n
    if len(names) < n:
        off = numpy.array([(inside[clusters == c] - p).sum() for c in names])
        variance = len(names) / max(len(names) - 1, 1) * (off**2).sum() / n**2
        worth = p * (1 - p) / variance if variance > 0 else n
        worth = worth * (t.ppf(0.975, n - 1) / t.ppf(0.975, max(len(names) - 1, 1))) ** 2
        worth = min(max(worth, 1), n)
    hits = p * worth
    low = beta.ppf(0.025, hits, worth - hits + 1) if hits > 0 else 0
    high = beta.ppf(0.975, hits + 1, worth - hits) if hits < worth else 1
    return float(low), float(high)


logs, total = [], {}
print(f"{'set':18} {'cell':7} {'rows':>5} {'forest':>7} {'boost':>7} {'ridge':>7} {'mlp':>7} {'orch':>7}  ratio  95 % of it    cover   95 % of it  width    s", flush=True)
for name in args.sets.split(","):
    spec = SETS[name]
    rows = table(name)
    whole = len(rows)
    if whole > args.rows:
        keep = numpy.sort(numpy.random.RandomState(1).choice(whole, args.rows, replace=False))
        rows = [rows[i] for i in keep]
    y = numpy.array([float(r[spec[0]]) for r in rows])
    x, names, roof = features(rows, spec)
    for cell in args.cells.split(","):
        errors, ours, inside, clusters, widths, seconds = {}, [], [], [], [], 0
        for k, (train, test, groups) in enumerate(folds_of(rows, cell, spec, args.folds)):
            if args.only != "orch":
                theirs = cached(f"3 {name} {cell} {k} {args.rows} {len(rows)}", lambda: sklearn_answers(x, names, roof, y, groups, train, test))
                for m, a in theirs.items():
                    errors.setdefault(m, []).append(numpy.abs(numpy.array(a) / y[test] - 1))
            if args.only == "sklearn":
                continue
            with tempfile.TemporaryDirectory() as folder:
                said, answer = orch_answers(rows, spec, train, test, folder)
            ours.append(numpy.abs(answer[:, 0] / y[test] - 1))
            inside.append((answer[:, 1] <= y[test]) & (y[test] <= answer[:, 2]))
            clusters.append(test.astype(str) if groups is None else groups[test])
            widths.append(numpy.log(answer[:, 2] / answer[:, 1]) / 2)
            seconds += said["fit_s"]
            if args.say:
                print("   ", "; ".join(f"{q['question']}: {q['mixture']}" for q in said["questions"]))
        if not errors and not ours:
            continue
        e = {m: numpy.concatenate(v) for m, v in errors.items()}
        mean = lambda m: f"{100 * e[m].mean():7.2f}" if m in e else "      -"
        line = f"{name:18} {cell:7} {len(numpy.concatenate(ours)) if ours else len(e['forest']):5} " + " ".join(mean(m) for m in ("forest", "boosting", "ridge", "mlp"))
        if ours:
            o = numpy.concatenate(ours)
            line += f" {100 * o.mean():7.2f}"
            if e:
                best = min((v.mean(), m) for m, v in e.items() if m != "constant")[1]
                ratio = o.mean() / e[best].mean()
                draw = numpy.random.RandomState(3).randint(0, len(o), (2000, len(o)))
                boot = o[draw].mean(1) / e[best][draw].mean(1)
                low, high = numpy.percentile(boot, [2.5, 97.5])
                logs.append(math.log(ratio))
                line += f"  {ratio:5.2f}  {low:.2f} to {high:.2f}{'  WORSE' if low > 1 else '       '}"
            c, unit = numpy.concatenate(inside), numpy.concatenate(clusters)
            low, high = share_interval(c, unit)
            total.setdefault(cell, []).append((c, numpy.array([f"{name} {u}" for u in unit])))
            line += f" {100 * c.mean():5.1f} {100 * low:5.1f} to {100 * high:5.1f} {numpy.exp(numpy.median(numpy.concatenate(widths))):6.2f} {seconds:5.0f}"
            line += "  LOW" if high < 0.87 else "  HIGH" if low > 0.93 and cell == "random" else ""
        print(line, flush=True)
if logs:
    print(f"geometric mean of the ratios in {len(logs)} cells: {math.exp(sum(logs) / len(logs)):.3f}")
for cell, parts in total.items():
    c, unit = (numpy.concatenate(v) for v in zip(*parts))
    low, high = share_interval(c, unit)
    print(f"within the 90 % interval, all rows, {cell}: {100 * c.mean():.1f} % ({100 * low:.1f} to {100 * high:.1f})")
