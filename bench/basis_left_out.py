#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""How far off forecasts are of published steps whose source is left out (orch predict --without): by tier, mode and size of
the batch, and of trainings of ResNet-50 by GPU.

usage: /usr/bin/python3 bench/basis_left_out.py BUILD
"""
import collections
import csv
import json
import math
import os
import statistics
import subprocess
import sys

build = sys.argv[1]
TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../share/measured/steps.csv")
SETTING = ("source", "gpu", "net", "input", "mode", "precision", "workers")


def answers(setting, batches):
    """{batch: prediction}"""
    s = dict(zip(SETTING, setting))
    words = ["predict", "--without", s["source"], "--gpu", s["gpu"], "--net", s["net"], "--input", s["input"], "--precision", s["precision"],
             "--workers", s["workers"], "--batch", ",".join(map(str, batches)), "--json"] + ["--forward-only"] * (s["mode"] == "infer")
    out = subprocess.run([f"{build}/orch", *words], capture_output=True, text=True)
    return {p["batch_per_worker"]: p for p in json.loads(out.stdout)["predictions"]} if out.returncode == 0 else {}


def judged():
    groups = collections.defaultdict(list)
    for r in csv.DictReader(open(TABLE)):
        groups[tuple(r[k] for k in SETTING)].append(r)
    for setting, rows in groups.items():
        found = answers(setting, sorted({int(r["batch"]) for r in rows}))
        for r in rows:
            p = found.get(int(r["batch"]))
            if p:
                yield r, p, math.log(float(r["step_ms"]) / 1e3 / p["step_s"]), math.log(p["step_high_s"] / p["step_s"])


def show(title, rows, key):
    by = collections.defaultdict(list)
    for row in rows:
        by[key(row)].append(row)
    print(f"\n| {title} | rows | mean error | median factor | inside |\n| --- | --- | --- | --- | --- |")
    for k in sorted(by):
        e = [abs(math.expm1(-x[2])) for x in by[k]]
        inside = sum(abs(x[2]) <= x[3] for x in by[k])
        print(f"| {k} | {len(e)} | {100 * statistics.mean(e):.1f} % | {math.exp(statistics.median(x[3] for x in by[k])):.2f} | {100 * inside / len(e):.0f} % |")


rows = list(judged())
show("tier", rows, lambda x: x[1]["tier"])
show("tier, mode, batch", rows, lambda x: f"{x[1]['tier']}, {x[0]['mode']}, {'from 32' if int(x[0]['batch']) >= 32 else 'below 32'}")
show("source left out", rows, lambda x: x[0]["source"])
print("\n| ResNet-50, training | precision | batch | left out | measured, images/s | forecast | factor | tier | inside |\n" + "| --- " * 9 + "|")
for r, p, error, half in sorted(rows, key=lambda x: (x[0]["gpu"], x[0]["precision"], int(x[0]["batch"]))):
    if r["net"].startswith("resnet50") and r["mode"] == "train" and r["workers"] == "1" and int(r["batch"]) >= 24:
        rate = 1e3 * int(r["batch"]) / float(r["step_ms"])
        print(f"| {r['gpu']} | {r['precision']} | {r['batch']} | {r['source']} | {rate:.0f} | {p['images_per_s']:.0f} | {math.exp(half):.2f} | {p['tier']} | "
              f"{'yes' if abs(error) <= half else 'no'} |")
