#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Latency of a batch by plugin onnxrun's engines, beside LibTorch and beside Python's own onnxruntime on the same file.

Times are of the processor, in sum over the threads, so that other programs disturb them little; the default is one thread. Each network is exported with initial values. A trial times its engine and LibTorch one after the other; with Python's
onnxruntime the artifact `onnx` of the first trial is timed right after it, with the same threads and the same number of runs.
The table has medians over the rounds of the ratios of each round: below 1 is faster than LibTorch, and the last column is orch's ONNX
Runtime over Python's.

usage: PYTHON bench/engines.py BUILD [--nets A,B] [--batches 1,8,32] [--threads N] [--rounds N] [--repeats N]
PYTHON: for the last column, one that imports onnxruntime (its library is then the one that orch finds, too)."""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

try:
    import numpy
    import onnxruntime
except ImportError:
    onnxruntime = None


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=os.path.abspath)
    parser.add_argument("--nets", default="resnet20,mobilenet_v1,ssd-small")
    parser.add_argument("--batches", default="1,8,32")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--repeats", type=int, default=20)
    return parser.parse_args()


def orch(build, *args):
    return subprocess.run([f"{build}/orch", *args], check=True, capture_output=True).stdout


def trial(o, folder, engine, net, batch):
    """The results of a trial, or why there are none, and its key."""
    with open(f"{folder}/b.recipe", "w") as file:
        file.write("format: 1\nrecipe: b\nexperiments:\n  e: { plugin: onnxrun, with: { engine: %s, net: %s, batch: %d, count: %d, threads: %d, "
                   "repeats: %d, clock: processor } }\n" % (engine, net, batch, batch, o.threads, o.repeats))
    subprocess.run([f"{o.build}/orch", "run", "-q", "--force", "--oversubscribe", "b.recipe"], cwd=folder, capture_output=True)
    run = json.loads(orch(o.build, "show", "@last", "--json", "-C", folder))
    return (run["results"], run["key"]) if run["state"] == "ok" else (run["reason"].splitlines()[0], None)


def python_ms(o, folder, key, batch):
    """Median milliseconds of a batch by Python's onnxruntime on the file that the trial exported."""
    with open(f"{folder}/net.onnx", "wb") as file:
        file.write(orch(o.build, "show", key, "--artifact", "onnx", "-C", folder))
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads, settings.inter_op_num_threads = o.threads, 1
    session = onnxruntime.InferenceSession(f"{folder}/net.onnx", settings, providers=["CPUExecutionProvider"])
    meta = session.get_inputs()[0]
    inputs = {meta.name: numpy.random.default_rng(0).standard_normal([batch, *meta.shape[1:]], dtype=numpy.float32)}
    times = []
    for i in range(o.repeats + 5):
        begin = time.process_time()
        session.run(None, inputs)
        if i >= 5:
            times.append((time.process_time() - begin) * 1e3)
    return statistics.median(times)


def row(o, folder, net, batch):
    ratios, of_python, milliseconds, problems = {}, [], [], []
    for _ in range(o.rounds):
        for engine in ("onnxruntime", "opencv"):
            results, key = trial(o, folder, engine, net, batch)
            if not key:
                problems.append(f"{engine}: {results}")
                continue
            ratios.setdefault(engine, []).append(results["latency"] / results["trainer_latency"])
            milliseconds.append(results["trainer_latency"])
            if engine == "onnxruntime" and onnxruntime:
                of_python.append(results["latency"] / python_ms(o, folder, key, batch))
    cells = [f"{statistics.median(ratios[e]):.2f}" if e in ratios else "-" for e in ("onnxruntime", "opencv")]
    cells.append(f"{statistics.median(of_python):.2f}" if of_python else "-")
    return [net, str(batch), f"{statistics.median(milliseconds):.1f}" if milliseconds else "-", *cells], problems


def main():
    o = options()
    problems = []
    print("| network | batch | LibTorch, ms | ONNX Runtime / LibTorch | OpenCV / LibTorch | orch's ONNX Runtime / Python's |")
    print("| --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        for net in o.nets.split(","):
            for batch in o.batches.split(","):
                cells, failed = row(o, folder, net, int(batch))
                problems += failed
                print("| " + " | ".join(cells) + " |", flush=True)
    for problem in sorted(set(problems)):
        print(problem, file=sys.stderr)


main()
