#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Planned totals of plain scripts against what they then took. Five scripts (bench/scripts: a network in numpy, sorting, a
convolution in C, a data loader, a forest of scikit-learn) run once in every setting of a sweep. A plan knows some of
these runs, drawn with its seed (--known of them at least and at most), and forecasts the others: is the sum of their
times within the interval of 'orch plan', and how far is it off?

usage: /usr/bin/python3 bench/script_plans.py BUILD [--plans 200] [--known 8,14] [--store DIR] [--cpu]

The scripts use one thread. With --store the measured runs are kept in DIR and used again, for example by another BUILD. With --cpu
processor time takes the place of elapsed time in the store, for a machine on which other programs run, too. Needs numpy,
Pillow, scikit-learn.
"""
import argparse
import collections
import json
import math
import os
import random
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile

SWEEPS = {"mlp": "width: [32, 64, 128, 256, 512], batch: [32, 128, 512], epochs: [1, 3]",
          "sorting": "n: [10000, 30000, 100000, 200000, 400000, 800000], kind: [list, merge, insertion]",
          "conv": "size: [32, 64, 128], channels: [2, 4, 8, 16], kernel: [1, 3, 5]",
          "loader": "images: [20, 60, 200, 400], size: [64, 128, 256], crops: [1, 4]",
          "forest": "trees: [5, 20, 80], rows: [300, 1000, 3000], columns: [4, 16]"}
p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
p.add_argument("build")
p.add_argument("--plans", type=int, default=200)
p.add_argument("--known", default="8,14")
p.add_argument("--store", default=None)
p.add_argument("--cpu", action="store_true")
args = p.parse_args()
least, most = map(int, args.known.split(","))
folder = os.path.abspath(args.store or tempfile.mkdtemp())
program = os.path.abspath(f"{args.build}/orch")
os.environ.update(ORCH_SLOTS=folder + "/slots", OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")


def orch(*words, check=True):
    done = subprocess.run([program, "-C", folder, *words], capture_output=True, text=True)
    if check and done.returncode:
        sys.exit(f"orch {' '.join(words[:3])}: {done.stderr}")
    return done.stdout


def measure():
    here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "scripts")
    os.makedirs(folder, exist_ok=True)
    for name in os.listdir(here):
        shutil.copy(os.path.join(here, name), folder)
    subprocess.run(["cc", "-O2", "-o", "conv", "conv.c"], cwd=folder, check=True)
    recipe = "format: 1\nrecipe: scripts\nexperiments:\n"
    for name, sweep in SWEEPS.items():
        params = [part.split(":")[0].strip() for part in sweep.split("],")]
        words = ["./conv"] if name == "conv" else [sys.executable, name + ".py"]
        command = words + [w for q in params for w in (([] if name == "conv" else ["--" + q]) + ['"${%s}"' % q])]
        with open(f"{folder}/{name}.plugin", "w") as f:
            f.write(f"plugin: {name}\nversion: 1.0.0\nabout: a script of bench/script_plans.py\nlicence: GPL-3.0-or-later\n"
                    f"command: [{', '.join(command)}]\nmetrics: any\nparameters:\n"
                    + "".join(f"  {q}: {{ type: {'string' if q == 'kind' else 'int'} }}\n" for q in params))
        recipe += f"  {name}: {{ plugin: ./{name}.plugin, sweep: {{ {sweep} }} }}\n"
    with open(folder + "/scripts.recipe", "w") as f:
        f.write(recipe)
    orch("run", "-q", "scripts.recipe")
    if args.cpu:
        db = sqlite3.connect(json.loads(orch("db", "info", "--json"))["path"], isolation_level=None)
        for name, in db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            db.execute(f'DROP TRIGGER "{name}"')
        db.execute("UPDATE run SET wall_ms = 1e3 * (json_extract(facts, '$.user_s') + json_extract(facts, '$.system_s')),"
                   " facts = json_set(facts, '$.foreign_cpu', 0)")
        db.close()


if not os.path.exists(folder + "/scripts.recipe"):
    measure()
runs = collections.defaultdict(dict)
for trial in json.loads(orch("export", "--format", "json", "-c", "key,experiment,wall_s")):
    runs[trial["experiment"]][trial["key"]] = float(trial["wall_s"])
store = json.loads(orch("db", "info", "--json"))["path"]
held, logs, halves = collections.Counter(), collections.defaultdict(list), collections.defaultdict(list)
counts = collections.Counter()
for seed in range(args.plans):
    name, rng = list(SWEEPS)[seed % len(SWEEPS)], random.Random(seed)
    keys = sorted(runs[name])
    known = set(rng.sample(keys, rng.randint(least, min(most, len(keys) - 3))))
    rest = [k for k in keys if k not in known]
    copy = f"{folder}/plan.db"
    for end in ("", "-wal", "-shm"):
        if os.path.exists(copy + end):
            os.unlink(copy + end)
    subprocess.run(["sqlite3", store, f".backup {copy}"], check=True)
    orch("rm", "--db", copy, *rest)
    plan = json.loads(orch("plan", "--db", copy, "--json", "scripts.recipe", name))
    total, took = plan["forecast"], sum(runs[name][k] for k in rest)
    if total["trials"] < len(rest):
        took *= total["trials"] / len(rest)  # too far from what is known: these have no forecast
        counts["without a forecast"] += len(rest) - total["trials"]
    counts[name] += 1
    held[name] += total["low_s"] <= took <= total["high_s"]
    logs[name].append(abs(math.log(total["total_s"] / took)))
    halves[name].append(math.log(total["high_s"] / total["low_s"]) / 2)
print(f"{'processor' if args.cpu else 'elapsed'} time; load {open('/proc/loadavg').read().split()[0]}; {args.plans} plans that know {least} to {most} settings")
print(f"{'script':10}{'settings':>9}{'seconds':>16}{'plans':>7}{'total off by':>14}{'within':>9}{'factor':>8}")
for name in SWEEPS:
    t = runs[name].values()
    print(f"{name:10}{len(t):9}{min(t):8.2f}{max(t):8.2f}{counts[name]:7}{100 * math.expm1(statistics.mean(logs[name])):12.1f} %"
          f"{100 * held[name] / counts[name]:7.1f} %{math.exp(statistics.median(halves[name])):8.2f}")
every, halfs = sum(logs.values(), []), sum(halves.values(), [])
print(f"{'all':10}{'':25}{args.plans:7}{100 * math.expm1(statistics.mean(every)):12.1f} %"
      f"{100 * sum(held.values()) / args.plans:7.1f} %{math.exp(statistics.median(halfs)):8.2f}")
if counts["without a forecast"]:
    print(f"{counts['without a forecast']} trials in all had no forecast: too far from the known ones")
if not args.store:
    shutil.rmtree(folder)
