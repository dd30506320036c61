#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""orch's predictors against libraries' on the same folds of public measurements, by the shape of the question
(bench/folds_shapes.py): rows at random, networks, families of networks, boards and chips never seen, a chip from those
of earlier years, a line of products, a number of GPUs. Each set is cut to --rows rows (drawn once, seed 1); shapes
whose groups are many have up to --folds folds.

The libraries (bench/folds_peers.py) are tuned and told which question is asked. orch gets the table's columns and
finds the rest itself; nobody tells it which question is asked.

Printed: mean relative error of the rows, orch's over the best of the libraries' (the best on the very rows that are
judged by, which is hard on orch) with a paired bootstrap 95 % interval; the share of rows within orch's 90 % interval,
the 95 % interval of that share, and how wide orch's interval is; then, of the groups (chips, networks), the mean of
their errors and of their shares, each group counting alike. Rows of one group never seen are in or out together, so
there it is groups that are counted, not rows: as many rows as they are worth (Korn and Graubard 1998). A share whose
interval does not reach 87 % is marked LOW; where rows are the unit, one that does not go down to 93 % is marked HIGH.
At the end each shape's means over the sources that choices are made on, and over the others.

usage: PYTHON bench/folds.py BUILD [--data DIR] [--sets a,b] [--shapes random,net,chip,...] [--rows N] [--folds N]
       [--cache DIR] [--only peers|orch] [--orch OPTIONS] [--say] [--by-group] [--nameless]
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
import warnings

import numpy

from folds_peers import NAMES, Facts, features, peers_answers
from folds_shapes import SHAPES, folds_of

warnings.filterwarnings("ignore")
SETS = {  # target, column of networks, of GPUs (None: too few of them), columns that nobody may see
    "justus_conv": ("ms", None, "gpu", "ms_min ms_max ms_std"),
    "justus_dense": ("ms", None, "gpu", "ms_min ms_max ms_std"),
    "neusight_gemm": ("ms", None, "gpu", ""),
    "neusight_conv": ("ms", None, "gpu", ""),
    "neusight_vec": ("ms", None, "gpu", ""),
    "neusight_e2e": ("e2e_ms", "net", "gpu", "fw_ms bw_ms"),
    "timm_train": ("step_ms", "net", None, "img_per_s"),
    "timm_eager": ("step_ms", "net", "gpu", "img_per_s"),
    "timm_infer": ("step_ms", "net", "gpu", "img_per_s"),
    "ryujaehun_pytorch": ("ms_median", "net", "gpu", "ms_mean ms_std folder"),
    "jcjohnson_cnn": ("total_ms", "net", "gpu", "fw_ms bw_ms total_std_ms"),
    "u39kun_frameworks": ("ms", "net", "gpu", ""),
    "tf_benchmarks": ("step_ms", "net", "gpu", "img_per_s"),
    "lambda_train": ("throughput", None, "gpu", "name watt_total price_usd"),
    "lambda_per_gpu": ("throughput", None, "gpu", "name watt_total price_usd"),
    "milabench": ("items_per_s", None, "gpu", "peak_mem_mib"),
}
PARTS = {"timm_eager": ("timm_infer", lambda r: r["prec"] == "amp" and not r["torch"].endswith("d"))}  # without torch.compile
# tables read once more, because their batch_per_gpu is that of all GPUs: in lambda_train 174 of 178 rows of 2 to 8 GPUs have so many
# times what the same task has on one
OF_ALL_GPUS = {"lambda_per_gpu": "lambda_train"}
CHOOSING = ("justus", "ryujaehun", "tf_benchmarks")  # sources that choices are made on; the others judge them

p = argparse.ArgumentParser()
p.add_argument("build")
p.add_argument("--data", default="../shared/data")
p.add_argument("--sets", default=",".join(s for s in SETS if s not in OF_ALL_GPUS))
p.add_argument("--shapes", default="random,net,gpu")
p.add_argument("--rows", type=int, default=1600)
p.add_argument("--folds", type=int, default=3)
p.add_argument("--cache")
p.add_argument("--only", choices=["peers", "orch"])
p.add_argument("--say", action="store_true", help="what orch's answers are made of")
p.add_argument("--nameless", action="store_true", help="networks' names and counts are made unreadable")
p.add_argument("--by-group", action="store_true", help="error, bias and share of each group")
p.add_argument("--orch", default="--model auto")
args = p.parse_args()
if not os.path.isdir(args.data):
    sys.exit(f"no {args.data}: the measurements are not part of orch")
for s in args.shapes.split(","):
    if s not in SHAPES:
        sys.exit(f"no shape '{s}': one of {', '.join(SHAPES)}")


def table(name):
    source, keeps = PARTS.get(name, (OF_ALL_GPUS.get(name, name), lambda r: True))
    with open(f"{args.data}/{source}.csv") as f:
        rows = [r for r in csv.DictReader(f) if keeps(r)]
    for r in rows if name in OF_ALL_GPUS else ():
        if r["batch_per_gpu"]:
            r["batch_per_gpu"] = f"{float(r['batch_per_gpu']) / float(r['gpus']):g}"
    return nameless(rows, SETS[name][1] or "task") if args.nameless else rows


def nameless(rows, column):
    """rows of tasks of which nothing is known"""
    names = sorted({r[column] for r in rows})
    return [{"task": f"job{names.index(r[column]):04}"} | {k: v for k, v in r.items() if k not in (column, "params_M", "gmacs", "macts_M", "img")} for r in rows]


def orch_answers(rows, spec, train, test, folder):
    for name, which in (("train", train), ("test", test)):
        with open(f"{folder}/{name}.csv", "w") as f:
            w = csv.DictWriter(f, rows[0].keys())
            w.writeheader()
            w.writerows(rows[i] for i in which)
    drop = ["--drop", ",".join(spec[3].split())] if spec[3] else []
    out = subprocess.run([f"{args.build}/orch", "predictor", "eval", "--train", f"{folder}/train.csv", "--test", f"{folder}/test.csv",
                          "--target", spec[0], "--out", f"{folder}/out.csv", "--json"] + drop + args.orch.split(), capture_output=True, text=True)
    if out.returncode:
        sys.exit(out.stderr)
    said = json.loads(out.stdout)
    with open(f"{folder}/out.csv") as f:
        return said, numpy.array([[float(a[k]) for k in ("value", "low", "high")] for a in csv.DictReader(f)])


def cached(key, make):
    if not args.cache:
        return make()
    os.makedirs(args.cache, exist_ok=True)
    path = f"{args.cache}/{hashlib.md5(key.encode()).hexdigest()}.json"
    if not os.path.exists(path):
        value = make()
        with open(path, "w") as f:
            json.dump(value, f)
    with open(path) as f:
        return json.load(f)


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


class Cell:
    """what came out for one set and shape, fold by fold"""

    def __init__(self):
        self.peers, self.logs, self.inside, self.groups, self.widths, self.seconds = {}, [], [], [], [], 0

    def add_peers(self, answers, y):
        for m, a in answers.items():
            self.peers.setdefault(m, []).append(numpy.abs(numpy.array(a) / y - 1))

    def add_orch(self, answer, y, groups, seconds):
        self.logs.append(numpy.log(answer[:, 0] / y))
        self.inside.append((answer[:, 1] <= y) & (y <= answer[:, 2]))
        self.groups.append(groups)
        self.widths.append(numpy.log(answer[:, 2] / answer[:, 1]) / 2)
        self.seconds += seconds

    def close(self):
        self.peers = {m: numpy.concatenate(v) for m, v in self.peers.items()}
        for k in ("logs", "inside", "groups", "widths"):
            setattr(self, k, numpy.concatenate(getattr(self, k)) if getattr(self, k) else numpy.array([]))
        self.errors = numpy.abs(numpy.exp(self.logs) - 1)
        return self

    def by_group(self):
        """rows, mean error, median log of forecast over measured, share within the interval, by group"""
        out = {}
        for g in sorted(set(self.groups)):
            i = self.groups == g
            out[g] = (i.sum(), self.errors[i].mean(), numpy.median(self.logs[i]), self.inside[i].mean())
        return out


def run(name, rows, shape, spec, facts, seen):
    y = numpy.array([float(r[spec[0]]) for r in rows])
    cell = Cell()
    for k, (train, test, groups) in enumerate(folds_of(rows, shape, spec, args.folds, facts.year)):
        if args.only != "orch":
            key = f"4 {name} {shape} {k} {args.rows} {len(rows)} {hashlib.md5(test.tobytes() + train.tobytes()).hexdigest()} {NAMES}"
            cell.add_peers(cached(key, lambda: peers_answers(*seen, y, groups, train, test)), y[test])
        if args.only == "peers":
            continue
        with tempfile.TemporaryDirectory() as folder:
            said, answer = orch_answers(rows, spec, train, test, folder)
        cell.add_orch(answer, y[test], test.astype(str) if groups is None else groups[test], said["fit_s"])
        if args.say:
            print("   ", test[0] if groups is None else groups[test[0]], "; ".join(f"{q['question']}: {q['mixture']}" for q in said["questions"]))
    return cell.close()


def percent(share):
    return f"{100 * share:7.2f}" if share < 10 else "  >1000"


def line_of_cell(cell, shape):
    line = " ".join(percent(cell.peers[m].mean()) if m in cell.peers else "      -" for m in NAMES)
    if not len(cell.errors):
        return line
    o = cell.errors
    line += f" {100 * o.mean():7.2f}"
    if cell.peers:
        best = min((v.mean(), m) for m, v in cell.peers.items() if m != "constant")[1]
        cell.ratio = o.mean() / cell.peers[best].mean()
        draw = numpy.random.RandomState(3).randint(0, len(o), (2000, len(o)))
        low, high = numpy.percentile(o[draw].mean(1) / cell.peers[best][draw].mean(1), [2.5, 97.5])
        line += f"  {cell.ratio:5.2f}  {low:.2f} to {high:.2f}{'  WORSE' if low > 1 else '       '}"
    low, high = share_interval(cell.inside, cell.groups)
    line += f" {100 * cell.inside.mean():5.1f} {100 * low:5.1f} to {100 * high:5.1f} {numpy.exp(numpy.median(cell.widths)):6.2f} {cell.seconds:5.0f}"
    if shape != "random":
        groups = numpy.array(list(cell.by_group().values()))
        line += f"  {len(groups):3} groups: {100 * groups[:, 1].mean():6.2f}, {100 * groups[:, 3].mean():5.1f}"
    return line + ("  LOW" if high < 0.87 else "  HIGH" if low > 0.93 and shape == "random" else "")


def summarise(cells, title, of):
    for shape in args.shapes.split(","):
        mine = [c for (name, s), c in cells.items() if s == shape and of(name) and len(c.errors)]
        if not mine:
            continue
        groups = [numpy.array(list(c.by_group().values())) if shape != "random" else numpy.array([[0, c.errors.mean(), 0, c.inside.mean()]]) for c in mine]
        ratios = [math.log(c.ratio) for c in mine if hasattr(c, "ratio")]
        errors, shares = ([g[:, k].mean() for g in groups] for k in (1, 3))
        print(f"{title:22} {shape:8} {len(mine):2} sets: error {100 * numpy.mean(errors):6.2f}, within {100 * numpy.mean(shares):5.1f}"
              + (f", ratio {math.exp(numpy.mean(ratios)):.3f}" if ratios else ""))


def main():
    facts, cells = Facts(args.data), {}
    print(f"{'set':18} {'shape':8} {'rows':>5} " + " ".join(f"{m[:7]:>7}" for m in NAMES)
          + f" {'orch':>7}  ratio  95 % of it    cover   95 % of it  width    s  mean error and cover of the groups", flush=True)
    for name in args.sets.split(","):
        rows = table(name)
        if len(rows) > args.rows:
            keep = numpy.sort(numpy.random.RandomState(1).choice(len(rows), args.rows, replace=False))
            rows = [rows[i] for i in keep]
        seen = features(rows, SETS[name], facts)
        for shape in args.shapes.split(","):
            cell = run(name, rows, shape, SETS[name], facts, seen)
            if not cell.peers and not len(cell.errors):
                continue
            cells[name, shape] = cell
            print(f"{name:18} {shape:8} {len(cell.errors) or len(cell.peers['forest']):5} " + line_of_cell(cell, shape), flush=True)
            for g, (n, error, bias, share) in cell.by_group().items() if args.by_group else ():
                print(f"    {g:20} {n:5} rows, error {100 * error:6.2f}, bias {bias:+.3f}, within {100 * share:5.1f}", flush=True)
    summarise(cells, "all", lambda name: True)
    summarise(cells, "chosen by", lambda name: name.startswith(CHOOSING))
    summarise(cells, "judged by", lambda name: not name.startswith(CHOOSING))


if __name__ == "__main__":
    main()
