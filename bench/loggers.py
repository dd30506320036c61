#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What it costs a script that its logger's files are read while it writes them, and how late a value is on the page.

    python3 bench/loggers.py BUILD PYTHON [--rounds N] [--only NAME,...] [--points N] [--strict]

PYTHON has the loggers' packages; a logger whose package it lacks is skipped. Each script logs ten series, as often as
the table says, by hand and by 'orch try', in turn. Printed are medians over the rounds: the seconds by hand; how much
longer the script itself took (its loop and the logger's end), its own processor time, and what orch took of a CPU
meanwhile, which holds on a busy machine, too; the command, which reads the rest and stores the points; and the
processor time that the command used beyond that of the script, per point. Then a script logs a value ten times a second
whose step is the time in ms: printed is how much later 'orch serve' sends it to the page, and for a client that writes
its file late, how much later than that. With --strict the exit status is 1 when a median script takes more than 5 %
longer, or a value is later than 2 s."""
import argparse
import json
import os
import pathlib
import resource
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

SCRIPT = """import sys, time, os
rows, live = int(sys.argv[1]), sys.argv[2] == "live"
{setup}
def orch_cpu():
    total, pid = 0, os.getppid()
    while pid > 1:
        name, rest = open("/proc/%d/stat" % pid).read().rsplit(")", 1)
        if "(orch" not in name:
            break
        total, pid = total + sum(map(int, rest.split()[11:13])), int(rest.split()[1])
    return total / os.sysconf("SC_CLK_TCK")
def log(step, x):
    row = {{"m%d" % i: x * i for i in range(10)}}
    {log}
wall, cpu, orch = time.perf_counter(), time.process_time(), orch_cpu()
for step in range(rows):
    if live:
        time.sleep(0.1)
        log(int(time.time() * 1000), 1.5 + step)
        {flush}
    else:
        log(step, 1.5 + step)
{end}
with open(os.environ["BENCH_OUT"], "w") as f:
    took = time.perf_counter() - wall, time.process_time() - cpu, orch_cpu() - orch
    f.write("%.6f %.6f %.6f" % took)
"""

LOGGERS = {
    "csv": (100000, "", {
        "setup": 'import csv\nf = open("metrics.csv", "w", newline="")\n'
                 'w = csv.DictWriter(f, ["step"] + ["m%d" % i for i in range(10)])\nw.writeheader()',
        "log": 'w.writerow({"step": step, **row})', "flush": "f.flush()", "end": "f.close()"}),
    "json lines": (100000, "", {
        "setup": 'import json\nf = open("metrics.jsonl", "w")',
        "log": 'f.write(json.dumps({"step": step, **row}) + "\\n")', "flush": "f.flush()", "end": "f.close()"}),
    "tensorboard": (100000, "tensorboardX", {
        "setup": 'from tensorboardX import SummaryWriter\nw = SummaryWriter("runs")',
        "log": 'for k, v in row.items(): w.add_scalar(k, v, step)', "flush": "w.flush()", "end": "w.close()"}),
    "wandb": (100000, "wandb", {
        "setup": 'import wandb\nos.environ.update(WANDB_MODE="offline", WANDB_SILENT="true")\nr = wandb.init()',
        "log": "r.log(row, step=step)", "flush": "", "end": "r.finish()"}),
    "swanlab": (10000, "swanlab", {
        "setup": 'import swanlab\nr = swanlab.init(mode="offline")',
        "log": "r.log(row, step=step)", "flush": "", "end": "r.finish()"}),
    "mlflow": (10000, "mlflow,sqlalchemy", {
        "setup": 'import mlflow\nfrom mlflow.entities import Metric\nc = mlflow.MlflowClient("sqlite:///mlflow.db")\n'
                 'c.create_experiment("bench")\n'
                 'r = c.create_run(c.get_experiment_by_name("bench").experiment_id).info.run_id\nheld = []\n'
                 'def send():\n    c.log_batch(r, metrics=held)\n    held.clear()',
        "log": 'held.extend(Metric(k, v, int(time.time() * 1000), step) for k, v in row.items())\n'
               '    if len(held) == 1000: send()',
        "flush": "send()", "end": "held and send()\nc.set_terminated(r)"}),
}


def has(python, modules):
    return subprocess.run([python, "-c", f"import {modules}"], capture_output=True, check=False).returncode == 0 \
        if modules else True


def folder(name, fields):
    os.makedirs(name)
    with open(f"{name}/main.py", "w") as f:
        f.write(SCRIPT.format(**fields))
    subprocess.run("git init -q . && git add -A && git -c user.name=b -c user.email=b@b commit -qm main", shell=True,
                   cwd=name, check=True)
    return name


def timed(command, where):
    """Seconds of the script's loop, of the command, and of the processor."""
    env = dict(os.environ, BENCH_OUT=os.path.abspath("out"))
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, cwd=where, env=env, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    loop, loop_cpu, beside = map(float, pathlib.Path("out").read_text().split())
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"loop": loop, "loop_cpu": loop_cpu, "wall": wall, "cpu": cpu, "beside": beside}


def points_of(where):
    with sqlite3.connect(f"{where}/.orch/results.db") as db:
        return db.execute("SELECT count(*) FROM metric x JOIN metric_name n ON n.id = x.name_id"
                          " WHERE n.name GLOB 'm[0-9]'").fetchone()[0]


def cost(orch, python, name, rows, fields, rounds):
    hand, tried = [], []
    for i in range(rounds):
        at = folder(f"{name}-{i}-hand", fields)
        hand.append(timed([python, "main.py", str(rows), "-"], at))
        at = folder(f"{name}-{i}-try", fields)
        tried.append(timed([orch, "try", "--no-progress", "--", python, "main.py", str(rows), "-"], at))
        if points_of(at) != rows * 10:
            sys.exit(f"{name}: {points_of(at)} of {rows * 10} points are in the store")
    ratio = {k: statistics.median(t[k] / h[k] for h, t in zip(hand, tried)) for k in hand[0]
             if k != "beside"}
    least = min(t["loop_cpu"] for t in tried) / min(h["loop_cpu"] for h in hand)
    beside = statistics.median(t["beside"] / t["loop"] for t in tried)
    more_cpu = statistics.median(t["cpu"] - h["cpu"] for h, t in zip(hand, tried))
    more_wall = statistics.median(t["wall"] - h["wall"] for h, t in zip(hand, tried))
    by_hand = statistics.median(h["loop"] for h in hand)
    print(f"{name:12} {rows * 10:8} points  by hand {by_hand:7.2f} s  script x{ratio['loop']:.3f}"
          f" (its processor time x{ratio['loop_cpu']:.3f}, of the least ones x{least:.3f}, orch beside it {100 * beside:.1f} % of a CPU)"
          f"  command +{more_wall:.2f} s x{ratio['wall']:.3f}"
          f"  processor +{more_cpu:.2f} s x{ratio['cpu']:.3f}, {more_cpu / rows / 10 * 1e6:.2f} us a point", flush=True)
    return ratio["loop"]


def follow(url, ages):
    with urllib.request.urlopen(url) as stream:
        event = None
        for line in stream:
            if line.startswith(b"event: "):
                event = line[7:].strip()
            elif line.startswith(b"data: ") and event == b"points":
                ages.append((time.time(), json.loads(line[6:])))


def steps_in(data):
    """The steps of a 'points' event."""
    if isinstance(data, dict):
        for key, value in data.items():
            if key in ("step", "steps"):
                yield from value if isinstance(value, list) else [value]
            else:
                yield from steps_in(value)
    elif isinstance(data, list):
        for value in data:
            yield from steps_in(value)


def watch(folder, ended, grown):
    """When the logger itself wrote its file: the times at which one of these files had grown."""
    sizes = {}
    while not ended.wait(0.02):
        for path in [*pathlib.Path(folder).glob("wandb/*/*.wandb"), *pathlib.Path(folder).glob("swanlog/*/*.swanlab")]:
            size = path.stat().st_size
            if size > sizes.get(path.name, 0):
                sizes[path.name] = size
                grown.append(time.time())


def lateness(orch, python, name, fields):
    at = folder(f"{name}-live", fields)
    env = dict(os.environ, BENCH_OUT=os.path.abspath("out"))
    trial = subprocess.Popen([orch, "try", "--no-progress", "--", python, "main.py", "150", "live"], cwd=at, env=env,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not os.path.exists(f"{at}/.orch/results.db"):
        time.sleep(0.05)
    server = subprocess.Popen([orch, "serve", "--read-only", "--port", "0", "--quiet"], cwd=at, text=True,
                              stdout=subprocess.PIPE)
    events, grown, ended = [], [], threading.Event()
    fields["flush"] or threading.Thread(target=watch, args=(at, ended, grown), daemon=True).start()
    base = server.stdout.readline().strip()
    threading.Thread(target=follow, args=(base + "api/v1/live?points=*", events), daemon=True).start()
    began = time.time()
    trial.wait()
    time.sleep(1)
    server.terminate()
    server.wait()
    ended.set()
    first, since = {}, []
    for when, data in events:
        for step in steps_in(data):
            if step / 1000 > began and step not in first:
                first[step] = when - step / 1000
                since += [when - t for t in grown if t >= step / 1000][:1]
    ages = sorted(a for a in first.values() if a < 1000)
    if not ages:
        print(f"{name:12} no value was sent while it ran")
        return None
    print(f"{name:12} {len(ages)} values: on the page {ages[len(ages) // 2]:.2f} s after they were logged (median), "
          f"{ages[-1]:.2f} s at worst", flush=True)
    if not since:
        return ages[-1]
    since.sort()
    gaps = [round(b - a, 1) for a, b in zip(grown, grown[1:]) if b - a > 0.2]
    print(f"{name:12} its client wrote the file {len(gaps) + 1} times, {gaps} s apart; on the page "
          f"{since[len(since) // 2]:.2f} s after that (median), {since[-1]:.2f} s at worst", flush=True)
    return since[-1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("python")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default=",".join(LOGGERS))
    parser.add_argument("--points", type=int)
    parser.add_argument("--strict", action="store_true")
    given = parser.parse_args()
    orch, late = os.path.realpath(f"{given.build}/orch"), False
    wanted = given.only.split(",")
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        os.environ.update(XDG_CACHE_HOME=f"{work}/cache", TRACKIO_DIR=f"{work}/trackio")
        for name, (rows, modules, fields) in LOGGERS.items():
            if name not in wanted:
                continue
            if not has(given.python, modules):
                print(f"{name:12} skipped: {given.python} has no {modules}")
                continue
            rows = given.points // 10 if given.points else rows
            late |= cost(orch, given.python, name, rows, fields, given.rounds) > 1.05 if given.rounds else False
            age = lateness(orch, given.python, name, fields)
            late |= age is None or age > 2
    return given.strict and late


if __name__ == "__main__":
    sys.exit(main())
