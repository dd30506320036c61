#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kills the runner (SIGKILL) at random instants and runs again: no ended trial is lost or repeated, no
hand repair is needed, no process is left.

The instants are spread over what a runner does with a trial, told by the trial's folder:
  between    no trial has a folder
  spawn      trial.json is there, the host has not written yet
  handshake  the journal has begun, without points
  metrics    points are in the journal
  commit     the journal has its end, the folder is still there
usage: kill_runner.py BUILD [KILLS-PER-PHASE]
"""
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

build = os.path.abspath(sys.argv[1])
per_phase = int(sys.argv[2]) if len(sys.argv) > 2 else 40
orch = os.path.join(build, "orch")
PHASES = ["between", "spawn", "handshake", "metrics", "commit"]
TRIALS, KILLS_A_STORE = 36, 25

RECIPE = """format: 1
recipe: killed
experiments:
  points: { plugin: 'null', sweep: { metrics: [%s] } }
""" % ", ".join(str(5000 + i) for i in range(TRIALS))


def observe(trials):
    """The phase of the trial that is under way, from what lies in its folder."""
    try:
        names = os.listdir(trials)
    except FileNotFoundError:
        return "between"
    if not names:
        return "between"
    folder = os.path.join(trials, names[0])
    try:
        with open(os.path.join(folder, "journal"), "rb") as f:
            size = f.seek(0, 2)
            f.seek(max(0, size - 4096))
            tail = f.read()
            f.seek(0)
            head = f.read(65536)
    except FileNotFoundError:
        return "spawn" if os.path.exists(os.path.join(folder, "trial.json")) else "between"
    if b'"event":"end"' in tail:
        return "commit"
    if b'"metrics"' in head or b'"metric"' in head:
        return "metrics"
    return "handshake"


def ended(db):
    if not os.path.exists(db):
        return {}
    out = subprocess.run([orch, "ls", "-n", "0", "--json", "--db", db], capture_output=True, text=True)
    if "the file is empty" in out.stderr:  # killed while it made the store: nothing ended yet
        return {}
    assert out.returncode == 0, out.stderr
    return {r["key"]: r["state"] for r in json.loads(out.stdout)["runs"]
            if r["state"] not in ("running", "interrupted")}


def left_processes(folder):
    """Processes of this scratch folder: by command line (hosts), environment and current folder
    (trials, which go by a name of their own)."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        if int(pid) == os.getpid():
            continue
        signs = b""
        for name in ("cmdline", "environ"):
            try:
                with open(f"/proc/{pid}/{name}", "rb") as f:
                    signs += f.read()
            except OSError:
                pass
        try:
            signs += os.readlink(f"/proc/{pid}/cwd").encode()
        except OSError:
            pass
        if folder.encode() in signs:
            found.append(pid)
    return found


def main():
    counts = dict.fromkeys(PHASES, 0)
    rng = random.Random(7)
    missed = 0
    while min(counts.values()) < per_phase:
        folder = tempfile.mkdtemp(prefix="orch-kill-")
        recipe, db = os.path.join(folder, "killed.recipe"), os.path.join(folder, ".orch/results.db")
        trials = os.path.join(folder, ".orch/results.db.d/trials")
        with open(recipe, "w") as f:
            f.write(RECIPE)
        command = [orch, "run", recipe, "-q", "--yes"]
        before = {}
        for _ in range(KILLS_A_STORE):
            wanted = min(PHASES, key=lambda p: (counts[p], rng.random()))
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            delay = rng.random() * 0.03
            time.sleep(delay)
            deadline = time.monotonic() + 2
            phase = None
            while process.poll() is None and time.monotonic() < deadline:
                phase = observe(trials)
                if phase == wanted:
                    break
            if process.poll() is not None:
                missed += 1
                break
            process.send_signal(signal.SIGKILL)
            process.wait()
            counts[phase] += 1
            now = ended(db)
            lost = set(before) - set(now)
            assert not lost, f"ended runs lost after a kill in {phase}: {lost}"
            before = now
        final = subprocess.run(command, capture_output=True, text=True, timeout=600)
        assert final.returncode == 0, f"running again failed: {final.stderr}"
        runs = ended(db)
        assert not set(before) - set(runs), "ended runs lost"
        good = [k for k, state in runs.items() if state == "ok"]
        assert len(good) == TRIALS, f"{len(good)} trials ended ok, expected {TRIALS}"
        check = subprocess.run([orch, "db", "check", "--db", db], capture_output=True, text=True)
        assert check.returncode == 0, check.stdout + check.stderr
        plan = subprocess.run([orch, "plan", recipe, "--json"], capture_output=True, text=True)
        assert json.loads(plan.stdout)["left"] == 0
        assert not os.path.isdir(trials) or not os.listdir(trials), "a trial's folder is left"
        left = left_processes(folder)
        assert not left, f"processes left: {left}"
        shutil.rmtree(folder)
    total = sum(counts.values())
    print(f"{total} kills: " + ", ".join(f"{p} {counts[p]}" for p in PHASES) +
          f" ({missed} ended before their kill); every trial ended once, no process left")


main()
