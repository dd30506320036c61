#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of several GPUs as 'orch predict --parallel' forecasts them, beside public measurements to which nothing was
fitted: NeuSight's three (GPT-2 large on four A100, fp32, without an update) and a sample of vTrain's (GPTs on 2 to 8 A100, fp16,
Megatron-DeepSpeed, with activations computed again, which orch does not forecast: its forecasts are multiplied by 4/3).
Printed: the logs of forecast over measured, by ways.

usage: /usr/bin/python3 bench/parallel_rows.py BUILD DATA [ROWS]
"""
import collections
import csv
import json
import math
import random
import statistics
import subprocess
import sys

build, data = sys.argv[1:3]
count = int(sys.argv[3]) if len(sys.argv) > 3 else 100


def step_s(*words):
    out = subprocess.run([f"{build}/orch", "predict", *words, "--json"], capture_output=True, text=True)
    if out.returncode:
        sys.exit(f"{' '.join(words)}: {out.stderr}")
    return json.loads(out.stdout)["predictions"][0]["step_s"]


for way, batch, measured in (("dp=4", 1, 452.3), ("tp=4", 4, 484.868), ("pp=4,micro=1", 4, 1597.64)):
    s = step_s("--gpu", "A100-SXM4-40GB", "--net", "gpt2-large", "--batch", str(batch), "--precision", "fp32-ieee", "--attention", "eager",
               "--optimizer", "sgd", "--parallel", way)
    print(f"NeuSight {way}: {1e3 * s:.0f} ms, measured {measured:.0f}: measured / forecast {measured / s / 1e3:.2f}")

rows = list(csv.DictReader(open(f"{data}/vtrain_single.csv")))
random.Random(1).shuffle(rows)
by = collections.defaultdict(list)
for r in rows[:count]:
    tensor, replicas, stages = int(r["tensor"]), int(r["data"]), int(r["pipeline"])
    batch = int(r["global_batch"]) // replicas
    micro = batch // int(r["micro_batch"])
    s = step_s("--gpu", "A100-SXM4-80GB", "--net", f"gpt:{r['layers']},{r['hidden']},{r['heads']}", "--classes", "51200", "--tokens", r["seq"],
               "--batch", str(batch), "--precision", "fp16", "--attention", "eager", "--optimizer", "adam",
               "--parallel", f"dp={replicas},tp={tensor},pp={stages},micro={micro}")
    log = math.log(s * 4 / 3 / (float(r["iter_ms"]) / 1e3))
    kind = "+".join(k for k, n in (("dp", replicas), ("tp", tensor), ("pp", stages)) if n > 1) or "one GPU"
    by[kind].append(log)
    by["split" if tensor * stages > 1 else "whole"].append(log)
for kind, logs in sorted(by.items()):
    middle = statistics.median(logs)
    error = statistics.mean(abs(math.expm1(x)) for x in logs)
    most = sorted(abs(x) for x in logs)[math.ceil(0.9 * len(logs)) - 1]
    print(f"vTrain {kind:10} {len(logs):4} rows  median log {middle:+.2f}  mean error {100 * error:.1f} %  "
          f"90 % within {most:.2f} (a factor of {math.exp(most):.2f})")
