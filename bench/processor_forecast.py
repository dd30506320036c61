#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The forecast for this machine's processor from 'orch doctor --bench' alone, against trainings: LeNet-5, ResNet-8 and ResNet-20 on
Fashion-MNIST, three batch sizes, one thread and all. Needs the plugin train and the data set.

usage: python3 bench/processor_forecast.py BUILD [--store DIR] [--threads 1,2]

Each training has six short epochs, of which the fastest counts, because other programs only slow it down. With --store the machine's measurement and the trainings are kept in DIR
and used again, for example by another BUILD.
"""
import argparse
import json
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
p.add_argument("build")
p.add_argument("--store", default=None)
p.add_argument("--threads", default=f"1,{os.cpu_count()}")
args = p.parse_args()
folder = os.path.abspath(args.store or tempfile.mkdtemp())
NETS, BATCHES = ["lenet5", "resnet-cifar:8", "resnet-cifar:20"], [16, 64, 256]
os.makedirs(folder, exist_ok=True)
os.environ.update(XDG_DATA_HOME=folder + "/data", ORCH_SLOTS=folder + "/slots")


def orch(*words):
    done = subprocess.run([os.path.abspath(f"{args.build}/orch"), "-C", folder, *words], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"orch {' '.join(words)}: {done.stderr}")
    return done.stdout


if not os.path.exists(folder + "/p.recipe"):
    orch("doctor", "--bench")
    with open(folder + "/p.recipe", "w") as f:
        f.write("format: 1\nrecipe: p\nexperiments:\n")
        for batch in BATCHES:
            f.write(f"  b{batch}:\n    plugin: train\n    resources: {{ exclusive: true }}\n"
                    f"    with: {{ dataset: fashion-mnist, batch: {batch}, per_class: {max(32, math.ceil(4 * batch / 10))}, epochs: 6, val_images: 10, "
                    f"full_validation: false, lr: 0.01 }}\n"
                    f"    sweep: {{ net: [{', '.join(json.dumps(n) for n in NETS)}], threads: [{args.threads}] }}\n")
    orch("run", "-q", "p.recipe")
rows = json.loads(orch("export", "--format", "json"))
empty = tempfile.mkdtemp()
print(f"load {open('/proc/loadavg').read().split()[0]}")
print(f"{'network':18}{'batch':>6}{'threads':>8}{'measured ms':>13}{'forecast ms':>13}{'ratio':>8}  90 % interval")
logs, held = [], 0
for r in rows:
    batch, images = int(r["param.batch"]), float(r["result.train_images"])
    epoch = json.loads(orch("export", "--what", "points", "-m", "epoch_time", "--where", f"key={r['key']}", "--format", "json"))
    measured = min(float(e["value"]) for e in epoch) / math.ceil(images / batch)
    said = json.loads(orch("predict", "--gpu", "here", "--net", r["param.net"], "--input", "1x28x28", "--classes", "10", "--batch", str(batch),
                           "--threads", str(r["param.threads"]), "--model", "prior", "-C", empty, "--json"))["predictions"][0]
    ratio = said["step_s"] / measured
    logs.append(math.log(ratio))
    held += said["step_low_s"] <= measured <= said["step_high_s"]
    print(f"{r['param.net']:18}{batch:6}{str(r['param.threads']):>8}{1e3 * measured:13.2f}{1e3 * said['step_s']:13.2f}{ratio:8.2f}"
          f"  {1e3 * said['step_low_s']:.1f} to {1e3 * said['step_high_s']:.1f}", flush=True)
print(f"forecast over measured: {math.exp(min(logs)):.2f} to {math.exp(max(logs)):.2f}, geometric mean {math.exp(statistics.mean(logs)):.2f}; "
      f"{held} of {len(logs)} within the 90 % interval")
shutil.rmtree(empty)
if not args.store:
    shutil.rmtree(folder)
