#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""milabench's LoRA fine-tuning of Llama 3.1 8B on one GPU beside 'orch predict --lora-rank 8': tokens a second and peak
memory, each as forecast, measured and their ratio. The data has no length of sequences, so several are tried, with activations kept and, as
torchtune's recipes do, computed again.

usage: bench/lora_rows.py BUILD DATA [TOKENS...]
"""
import csv
import itertools
import json
import subprocess
import sys

build, data = sys.argv[1:3]
for again, tokens in itertools.product(([], ["--checkpointing"]), sys.argv[3:] or ["256", "512"]):
    for row in csv.DictReader(open(f"{data}/milabench.csv")):
        if row["task"] != "llm-lora-single":
            continue
        out = subprocess.run([f"{build}/orch", "predict", "--gpu", row["gpu"], "--net", "llama-3-8b", "--tokens", tokens, "--batch", row["batch"],
                              "--precision", "bf16", "--optimizer", "adam", "--lora-rank", "8", *again, "--json"], capture_output=True, text=True, check=True)
        p = json.loads(out.stdout)["predictions"][0]
        rate, memory = float(row["items_per_s"]), float(row["peak_mem_mib"])
        own = p["memory_bytes"] / 2**20
        print(f"{tokens} tokens, {'computed again' if again else 'kept'}, {row['gpu']}, batch {row['batch']:>2}: {p['tokens_per_s']:6.0f} tokens/s, measured {rate:6.0f}: time {p['tokens_per_s'] / rate:.2f} "
              f"of the forecast; {own:6.0f} MiB, measured {memory:6.0f}: forecast {own / memory:.2f} of it")
