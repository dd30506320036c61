#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of several GPUs as 'orch predict --parallel' forecasts them, beside public measurements to which nothing was
fitted: NeuSight's three (GPT-2 large on four A100, fp32, without an update), a sample of vTrain's (GPTs on 2 to 8 A100, fp16,
Megatron-DeepSpeed, with all activations computed again, so that forecasts are multiplied by 4/3), and where DATA has mpt_fsdp.csv, MosaicML's trainings of
MPT (FSDP on 8 to 512 A100 and H100, bf16; the tables of llm-foundry's scripts/train/benchmarking/README.md with columns as this file names them). bench/distil_tensor.py fits tensor cores to the A100 of these, not to the H100.
Their nodes have 1.6 Tbit/s (A100, as published) and 3.2 Tbit/s (H100, assumed: 400 Gbit/s a GPU).
Printed: the logs of forecast over measured, by ways; of MPT also by GPU, number of GPUs, size, length and checkpointing, the share in the 90 % interval,
and how often a micro-batch that ran is said to fit.

usage: /usr/bin/python3 bench/parallel_rows.py BUILD DATA [ROWS]
"""
import collections
import csv
import json
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile

build, data = sys.argv[1:3]
count = int(sys.argv[3]) if len(sys.argv) > 3 else 100


MPT_GPUS = {"a100_40gb": ("A100-SXM4-40GB", "nodes-a100"), "a100_80gb": ("A100-SXM4-80GB", "nodes-a100"), "h100_80gb": ("H100-SXM5", "nodes-h100")}
LINKS = "links:\n  - { name: nodes-a100, gbit_s: 1600, latency_us: 5 }\n  - { name: nodes-h100, gbit_s: 3200, latency_us: 5 }\n"


def predict(*words):
    out = subprocess.run([f"{build}/orch", "predict", *words, "--json"], capture_output=True, text=True)
    if out.returncode:
        sys.exit(f"{' '.join(words)}: {out.stderr}")
    return json.loads(out.stdout)["predictions"][0]


def step_s(*words):
    return predict(*words)["step_s"]


def mpt(r):
    gpu, link = MPT_GPUS[r["gpu"]]
    each = int(r["micro_batch"]) * int(r["accumulations"])
    words = ["--gpu", gpu, "--net", f"mpt:{r['layers']},{r['hidden']},{r['heads']}", "--classes", r["vocab"], "--tokens", r["seq"], "--batch", str(each),
             "--precision", "bf16", "--optimizer", "adam", "--loss", "fused", "--parallel", f"fsdp={r['gpus']},micro={r['accumulations']}"]
    words += ["--checkpointing"] if r["checkpointing"] == "True" else []
    words += ["--per-node", "8", "--network", link] if int(r["gpus"]) > 8 else []
    p, measured = predict(*words), each * int(r["seq"]) / float(r["tokens_s_gpu"])
    return math.log(p["step_s"] / measured), p["step_low_s"] <= measured <= p["step_high_s"], p["fits"]


def show_mpt(title, answers):
    logs = [a[0] for a in answers]
    most = sorted(abs(x) for x in logs)[math.ceil(0.9 * len(logs)) - 1]
    print(f"  {title:26} {len(logs):3} rows  median log {statistics.median(logs):+.3f}  mean |log| {statistics.mean(map(abs, logs)):.3f}  90 % within {math.exp(most):.2f}  "
          f"inside the interval {100 * statistics.mean(a[1] for a in answers):.0f} %  said to fit {100 * statistics.mean(a[2] for a in answers):.0f} %")


def show_all_mpt():
    rows = [r for r in csv.DictReader(open(f"{data}/mpt_fsdp.csv")) if "bf16" in r["precision"]]  # no forecast of fp8
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as links:
        links.write(LINKS)
        links.flush()
        os.environ["ORCH_HARDWARE"] = links.name
        answers = [mpt(r) for r in rows]
    print("MPT, FSDP, bf16:")
    for chip in ("a100", "h100"):
        own = [(r, a) for r, a in zip(rows, answers) if r["gpu"].startswith(chip)]
        show_mpt(chip, [a for _, a in own])
        for key in ("gpu", "gpus", "model", "seq", "checkpointing", "strategy"):
            for value in sorted({r[key] for r, _ in own}, key=lambda v: (len(v), v)):
                show_mpt(f"{chip} {key} {value}", [a for r, a in own if r[key] == value])


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
if os.path.exists(f"{data}/mpt_fsdp.csv"):
    show_all_mpt()
