#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tokens a second of a GPU in MLPerf Training v5.1 (github.com/mlcommons/training_results_v5.1, Apache-2.0; a clone of it is read by git alone):
Llama 2 70B with LoRA and Llama 3.1 8B, a line a system. A sample is 8,192 tokens, packed. A run's speed is the median of the intervals between
evaluations, a system's the median of its runs; beside it the fastest run by the slowest. bench/published.csv has some of them.

usage: /usr/bin/python3 bench/mlperf_rows.py GIT_DIRECTORY [BENCHMARK...]
"""
import collections
import json
import statistics
import subprocess
import sys

TOKENS = 8192


def git(*words):
    return subprocess.run(["git", "-C", sys.argv[1], *words], capture_output=True, text=True, errors="replace").stdout


def events(path):
    for line in git("show", f"HEAD:{path}").splitlines():
        mark = line.find(":::MLLOG")
        if mark >= 0:
            yield json.loads(line[mark + 8:])


def samples_per_s(log):
    """(median of the intervals between evaluations, samples of a step)"""
    rates, start, samples, batch = [], None, 0, None
    for e in log:
        if e["key"] == "global_batch_size":
            batch = e["value"]
        elif e["key"] in ("run_start", "eval_stop"):
            start = e["time_ms"]
        elif e["key"] == "eval_start" and start and "samples_count" in e["metadata"]:
            done = e["metadata"]["samples_count"]
            rates.append((done - samples) / (e["time_ms"] - start) * 1e3)
            samples, start = done, None
    return (statistics.median(rates), batch) if rates else None


systems = collections.defaultdict(list)
for path in git("ls-tree", "-r", "--name-only", "HEAD").splitlines():
    parts = path.split("/")
    if len(parts) == 5 and parts[1] == "results" and parts[3] in (sys.argv[2:] or ("llama2_70b_lora", "llama31_8b")) and parts[4].endswith(".txt"):
        systems[parts[3], parts[0], parts[2]].append(samples_per_s(events(path)))
print("benchmark", "submitter", "system", "accelerator", "gpus", "global_batch", "runs", "tokens_per_s_per_gpu", "fastest_by_slowest", sep="\t")
for (benchmark, submitter, system), runs in sorted(systems.items()):
    runs = [run for run in runs if run]
    about = json.loads(git("show", f"HEAD:{submitter}/systems/{system}.json") or "{}")
    gpus = int(about.get("number_of_nodes") or 0) * int(about.get("accelerators_per_node") or 0)
    if runs and gpus:
        rates = [rate for rate, _ in runs]
        print(benchmark, submitter, system, about["accelerator_model_name"], gpus, runs[0][1], len(runs),
              f"{statistics.median(rates) * TOKENS / gpus:.0f}", f"{max(rates) / min(rates):.3f}", sep="\t")
