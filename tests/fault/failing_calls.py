#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs a command again and again, each time with another of its calls of the system failing (preload.c): in the
program 'orch' itself, or in the 'orch-host' that runs its trials.

A loop makes the same call from the same place again and again, which the same code answers when it fails: of each place (the
functions that lead to the call) only the first and the last call fail; of the several hundred of these in 'orch', every second one.

Whatever fails: the program does not crash or hang, it says what is wrong, no ended run is lost, no process and no
trial's folder is left, and the same command then ends well.

usage: failing_calls.py BUILD LIBRARY
"""
import errno
import json
import os
import shutil
import subprocess
import sys
import tempfile

BUILD, LIBRARY = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
ORCH = os.path.join(BUILD, "orch")
STATUSES = {0, 1, 2, 3, 4}
SAID = ("orch: ", " failed", " crashed", " protocol-error", " lost")

RECIPES = {
    "wrapped.recipe": """format: 1
recipe: wrapped
experiments:
  w: { plugin: ./w.plugin }
""",
    "w.plugin": """plugin: w
command: [sh, w.sh]
metrics:
  loss: { better: min }
artifacts:
  out: out.txt
""",
    "w.sh": "echo loss: 0.5; echo talk >&2; echo bytes >out.txt\n",
    "compiled.recipe": """format: 1
recipe: compiled
experiments:
  n: { plugin: 'null', with: { metrics: 3 } }
""",
}
EVENTS = ('{"event":"metric","name":"loss","step":1,"value":0.5}\n'
          '{"event":"artifact","name":"w","path":"w.sh"}\n{"event":"done","status":"ok"}\n')
# name: the command, what it reads, program whose calls fail, whether it is made again afterwards
SCENARIOS = {
    "a wrapped program, in the host": (["run", "wrapped.recipe", "--yes"], None, "orch-host"),
    "a compiled plugin, in the host": (["run", "compiled.recipe", "--yes"], None, "orch-host"),
    "a recorded program, in the host": (["record", "-e", "r"], EVENTS, "orch-host"),
    "a wrapped program, in orch": (["run", "wrapped.recipe", "--yes"], None, "orch"),
    "a recorded program, in orch": (["record", "-e", "r"], EVENTS, "orch"),
}
ENV = dict(os.environ, LC_ALL="C", NO_COLOR="1", ORCH_USER="tester", GIT_CONFIG_NOSYSTEM="1")
for name in ("ORCH_DB", "ORCH_PLUGIN_PATH", "CLICOLOR_FORCE"):
    ENV.pop(name, None)

findings = []


def wrong(scenario, n, call, text):
    findings.append("%s, call %d (%s): %s" % (scenario, n, call, text))
    print(findings[-1], flush=True)


def orch(folder, arguments, text=None, env=ENV):
    return subprocess.run([ORCH] + arguments, cwd=folder, input=text, text=True, capture_output=True, env=env, timeout=60)


def make_template(scratch):
    """A repository with the recipes, a store with one run, and a home."""
    folder = os.path.join(scratch, "template")
    os.makedirs(os.path.join(folder, "home"))
    for name, text in RECIPES.items():
        with open(os.path.join(folder, name), "w") as file:
            file.write(text)
    subprocess.run("git init -q --template= -b main . && git add -A && git -c user.name=t -c user.email=t@example.org commit -qm a",
                   shell=True, cwd=folder, env=ENV, check=True)
    done = orch(folder, ["record", "-e", "before"], EVENTS)
    assert done.returncode == 0, done.stderr
    return folder


def left_processes(folder):
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.readlink("/proc/%s/cwd" % pid).startswith(folder):
                found.append(pid)
        except OSError:
            pass
    return found


def call_with_faults(scratch, template, scenario, n):
    """The command in a new folder with call n failing, or with all calls listed (0): the process, and what the library logged."""
    arguments, text, program = SCENARIOS[scenario]
    folder, log = os.path.join(scratch, "w"), os.path.join(scratch, "hit")
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run(["cp", "-a", template, folder], check=True)
    if os.path.exists(log):
        os.unlink(log)
    env = dict(ENV, LD_PRELOAD=LIBRARY, ORCH_FAULT_PROGRAM=program, ORCH_FAULT_UNDER=folder, ORCH_FAULT_AT=str(n),
               ORCH_FAULT_ERRNO=str(errno.EIO if n % 2 else errno.ENOSPC), ORCH_FAULT_LOG=log)
    try:
        done = orch(folder, arguments, text, env)
    except subprocess.TimeoutExpired:
        done = None
    logged = ""
    if os.path.exists(log):
        with open(log) as file:
            logged = file.read().strip().replace(folder, "")
    return folder, done, logged


def listed_calls(scratch, template, scenario):
    """The number of all calls, and the numbers of those that fail: the first and the last from each place."""
    done, logged = call_with_faults(scratch, template, scenario, 0)[1:]
    assert done and done.returncode == 0, "%s: %s" % (scenario, done and done.stderr)
    processes = {}
    for line in logged.splitlines():
        process, place = line.split(" ", 1)
        processes.setdefault(process, []).append(place.split(" ")[:2])
    places, count = {}, max(map(len, processes.values()))
    for n in range(1, count + 1):  # of the first process that makes so many
        place = tuple(next(calls for calls in processes.values() if len(calls) >= n)[n - 1])
        places[place] = (places.get(place, (n,))[0], n)
    return count, sorted({n for ends in places.values() for n in ends})


def try_once(scratch, template, scenario, n):
    """Whether the command made so many calls."""
    folder, done, call = call_with_faults(scratch, template, scenario, n)
    if not done:
        wrong(scenario, n, call or "-", "it hangs")
        return True
    if not call:
        return False
    if done.returncode not in STATUSES:
        wrong(scenario, n, call, "status %d: %s" % (done.returncode, done.stderr[-500:]))
    if done.returncode and not any(word in done.stderr for word in SAID):
        wrong(scenario, n, call, "status %d without a message: %s" % (done.returncode, done.stderr))
    check(scenario, n, call, folder, done)
    return True


def check(scenario, n, call, folder, done):
    """After a failure, the same command ends well and nothing is lost."""
    arguments, text, _ = SCENARIOS[scenario]
    again = orch(folder, arguments, text)
    if again.returncode != 0:
        wrong(scenario, n, call, "made again: status %d: %s\n(before: %s)" % (again.returncode, again.stderr, done.stderr))
    listed = orch(folder, ["ls", "-n", "0", "--json"])
    runs = json.loads(listed.stdout)["runs"] if listed.returncode == 0 else []
    states = [run["state"] for run in runs]
    if "before" not in [run["experiment"] for run in runs]:
        wrong(scenario, n, call, "an earlier run is lost: %s" % listed.stderr)
    if states.count("ok") < 2 or "running" in states:
        wrong(scenario, n, call, "states %s" % states)
    found = orch(folder, ["db", "check"])
    if found.returncode != 0:
        wrong(scenario, n, call, "db check: %s %s" % (found.stdout, found.stderr))
    trials = os.path.join(folder, ".orch", "results.db.d", "trials")
    left = [key for key in (os.listdir(trials) if os.path.isdir(trials) else [])
            if not os.path.exists(os.path.join(trials, key, "log"))]
    if [key for key in left if os.path.exists(os.path.join(trials, key, "journal"))]:
        wrong(scenario, n, call, "a trial's journal is left")
    processes = left_processes(folder)
    if processes:
        wrong(scenario, n, call, "processes are left: %s" % processes)


def try_ended_host(scratch, template):
    """The host reads everything and ends while orch looks whether it has begun."""
    folder = os.path.join(scratch, "ended")
    subprocess.run(["cp", "-a", template, folder], check=True)
    done = orch(folder, ["record", "-e", "r"], EVENTS, dict(ENV, LD_PRELOAD=LIBRARY, ORCH_FAULT_LOOK="/journal"))
    if done.returncode != 0:
        wrong("a host that has ended", 0, "access journal", "status %d: %s" % (done.returncode, done.stderr))


def main():
    scratch = tempfile.mkdtemp(prefix="orch-calls-")
    try:
        ENV.update(HOME=os.path.join(scratch, "home"), XDG_CACHE_HOME=os.path.join(scratch, "cache"),
                   XDG_CONFIG_HOME=os.path.join(scratch, "config"), XDG_STATE_HOME=os.path.join(scratch, "state"),
                   XDG_DATA_HOME=os.path.join(scratch, "share"), PATH=BUILD + ":" + os.environ["PATH"])
        template = make_template(scratch)
        try_ended_host(scratch, template)
        for scenario in SCENARIOS:
            count, numbers = listed_calls(scratch, template, scenario)
            step = 2 if SCENARIOS[scenario][2] == "orch" else 1
            tries = sum(try_once(scratch, template, scenario, n) for n in numbers[::step])
            assert tries > 10, "%s: only %d calls were counted" % (scenario, tries)
            print("%s: %d tries of %d calls" % (scenario, tries, count), flush=True)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    sys.exit(1 if findings else 0)


main()
