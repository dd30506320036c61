#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs every command of the program, with each of its options, over a sound store and over one that a stranger made, and
compares: none may crash, hang, write an answer that is no JSON, or fail over the whole store where the sound one gives an
answer. The commands, arguments and options are read from 'orch help --markdown', so a new command is tried as well; an
argument or option whose kind of value is not known here ends the test with a line that says what to add.

    all_commands.py FOLDER SOUND HOSTILE [--brief] [--edited]

FOLDER holds r.recipe; SOUND and HOSTILE are folders with a results.db. --brief leaves the options out. --edited: the
hostile file is not only of strange runs, but was edited; a command may refuse it, with a hint."""
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

LIMIT_S = 20
# what stands for an argument or an option's value in a usage; {run} is a key of the store, {out} a fresh name
VALUES = {
    "SELECT": "SELECT count(*) FROM runs", "SHARE|BLOCKS": "0.5", "R": "8", "WAY=N,...": "dp=2",
    "RECIPE": "r.recipe", "RECIPE...": "r.recipe", "PROBLEM|EXPERIMENT...": "tune", "EXPERIMENT...": "tune", "EXPERIMENT": "tune",
    "RUN": "{run}", "RUN...": "{run}", "RUN|RECIPE...": "{run}", "RUN|FILTER": "{run}", "A": "{run}", "B": "@last", "A..B": None, "DIR": "{out}",
    "METRIC": "final", "NAME": "accuracy", "NAME...": "accuracy", "NAME|PATH": "./job.plugin", "NET": "resnet20", "NET|RUN": "resnet20",
    "KERNEL[/STRIDE]...": "3/2", "KEY=N,...": "cores=1", "GPU": "v100", "GPUS": "v100", "REMOTE": "{hub}", "FILE": "{out}", "FILE.csv": "data.csv", "FILE.json": "{out}",
    "FILE|DIR": "{bundle}", "FILE|DIGEST...": "./none.so", "OTHER.db|BUNDLE|DIR...": "{bundle}", "SHELL": "bash", "SHELL|runs|plugins": "bash", "N": "2", "K": "2", "SECONDS": "1", "DURATION": "1s",
    "WHEN": "never", "WHO": "tester", "KEY": "{run}", "COMMAND": "true", "CONDITION": "wall_s>0 or lr>0", "EXPR": "lr>0", "COLUMNS": "key,lr,wall_s",
    "COLUMN": "wall_s", "FORMAT": "json", "X": "lr", "A,B,...": "lr,note", "A.csv": "data.csv", "B.csv": "data.csv",
    "ADDRESS": "127.0.0.1", "BYTES": "1000", "COLUMN,...": "key,lr,wall_s,best.accuracy,started,gpu,host", "CxHxW": "3x32x32",
    "COLUMN=FEATURE,...": "lr=lr", "DATE": "2026-01-01", "FILTER": "lr>0 or wall_s<1", "GPU=USD": "v100=1", "ID": "{run}",
    "K/N": "1/2", "KIND": "linear", "LANG": "python", "LAYER": "conv1", "LIMIT": "1h", "LINK": "pcie3", "LIST": "lr",
    "N,...": "1,2", "NAME=FILE": "x=data.csv", "NAMES": "accuracy", "NAMES|all": "all", "NAME|FOLDER": "nowhere", "NAME|N": "2",
    "NUMBER": "2", "PARAM=A,B,...": "lr=0.1,0.2", "PARAM=VALUE": "lr=0.3", "PARAM=VALUE,...": "lr=0.3", "PARAM=RANGE": "lr=uniform(0, 1)", "LIMITS": "wall_s < 60", "[EXP.]PARAM=VALUE": "lr=0.3",
    "[EXP.]PARAM=A,B,...": "lr=0.1,0.2", "PERCENT": "50", "PATH": "model.pt", "WHERE": "both", "PID": "1", "PLATFORM": "slurm", "N|LABEL": "1", "IMAGE": "lab/orch", "PLACE": "place", "QUESTION": "1.1", "NAME,...": "lr=1",
    "AMOUNT": "5s", "TIME": "1h", "RULE": "median(warmup=2)", "SHARE": "0.5", "STATE": "ok", "TAG": "tagged", "TEXT": "words", "UNIT": "s", "USD": "1", "VALUE": "final", "WHAT": "wall_s", "WHICH": "newest",
}
# commands that take another value than what their usage names
ARGUMENTS = {
    "net show": ["resnet20"], "net export": ["resnet20", "--onnx", "{out}"], "net compare": ["resnet20", "resnet32"], "gpu prices": [], "dataset get": ["none"], "plugin new": ["{name}"],
    "measurements show": ["d"], "measurements rm": ["d"], "measurements export": ["d"], "predictor show": ["p"], "predictor rm": ["p"],
    "predictor export": ["p"], "try": ["--", "true"], "pack": ["r.recipe", "{out}"], "diff": ["{run}", "@last"],
    "import": ["data.csv"], "submit": ["r.recipe"], "plot": [], "predict": [], "compare": ["{run}", "@last"], "bisect": ["final", "HEAD..HEAD", "--", "true"],
}
# not over a store of runs: they wait for a reader, or measure the machine for seconds
LEFT_OUT = {"serve": "waits for a browser", "predictor eval": "compares every model for minutes"}
# options that are left out: they wait, need another program, or measure the machine for longer than LIMIT_S
OPTIONS_LEFT_OUT = {"--help", "--directory", "--db", "--open", "--watch", "--hold", "--follow", "--wait", "--share", "--every", "--bench"}


def pages(folder):
    """Each command with its usage and options, from the program itself."""
    subprocess.run(["orch", "help", "--markdown", folder], check=True, capture_output=True)
    commands = {}
    for name in sorted(os.listdir(folder)):
        text = open(os.path.join(folder, name)).read()
        usage = re.search(r"^usage: orch (.*)$", text, re.M)
        title = re.search(r"^# orch (.+)$", text, re.M)
        if not usage or not title:
            continue
        options = text.split("options:", 1)[1].split("options of every command:")[0] if "\noptions:" in text else ""
        found = re.findall(r"^ {2}(?:-\w, |    )(--[\w-]+)(?: ([A-Z[][^ ]*))?", options, re.M)
        rest = usage.group(1)[len(title.group(1)):].replace("[OPTION...]", "").strip()
        commands[title.group(1)] = (rest, found)
    return commands


class Trier:
    def __init__(self, place, store):
        self.place = tempfile.mkdtemp(prefix="orch-all-")
        self.work = os.path.join(self.place, "w")
        shutil.copytree(place, self.work, symlinks=True)
        shutil.rmtree(os.path.join(self.work, ".orch"), ignore_errors=True)
        shutil.copytree(store, os.path.join(self.work, ".orch"))
        self.count = 0

    def values(self, run, hub, bundle):
        self.count += 1
        return {"run": run, "hub": hub, "bundle": bundle, "out": os.path.join(self.place, f"out{self.count}"),
                "name": f"new{self.count}"}

    def run(self, words):
        env = dict(os.environ, TMPDIR=self.place)
        done = subprocess.Popen(["orch", *words], cwd=self.work, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, start_new_session=True)
        try:
            out, err = done.communicate(timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            os.killpg(done.pid, 9)
            done.communicate()
            return "hangs", b"", b""
        return done.returncode, out, err


def arguments(command, usage):
    if command in ARGUMENTS:
        return ARGUMENTS[command]
    words = []
    for word in re.findall(r"\[[^\]]*\](?= |$)|[^ ]+", usage.split(" | ")[0]):
        bare = word.strip("[]")
        if bare.startswith("-") or word.startswith("["):
            continue
        if bare not in VALUES:
            sys.exit(f"all_commands.py: 'orch {command}' takes {bare}: add a value of it to VALUES")
        words.append(VALUES[bare])
    return words


def invocations(commands, is_brief):
    for command, (usage, options) in commands.items():
        if command in LEFT_OUT:
            continue
        fixed = arguments(command, usage)
        head, rest = (fixed[:fixed.index("--")], fixed[fixed.index("--"):]) if "--" in fixed else (fixed, [])
        start = command.split() + head
        yield start + rest
        yield start + ["--json"] + rest
        for name, value in [] if is_brief else options:
            if name not in OPTIONS_LEFT_OUT:
                if value and value not in VALUES:
                    sys.exit(f"all_commands.py: 'orch {command} {name}' takes {value}: add a value of it to VALUES")
                yield start + [name] + ([VALUES[value]] if value else []) + rest


def is_json(text):
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def judge(words, sound, hostile):
    status, out, err = hostile
    text = err.decode(errors="replace")
    if status == "hangs" and sound[0] != "hangs":
        return f"takes over {LIMIT_S} s"
    if isinstance(status, int) and (status < 0 or status > 130 or 8 < status < 128):
        return f"status {status}: {text[-300:]}"
    if b"runtime error" in err or b"AddressSanitizer" in err or b"CRITICAL" in err or b"as JSON" in err:
        return text[-600:]
    if is_json(sound[1]) and sound[0] == status and not is_json(out):
        return f"no JSON: {out[-200:]}"
    if "{run}" in words or ("--edited" in sys.argv and status == 3):
        return None if status in (0, sound[0]) or "hint:" in text else f"status {status} without a hint: {text[-300:]}"
    if sound[0] == 0 and status not in (0, 7, 1):
        return f"status {status}, 0 over a sound store: {text[-300:]}"
    return None


def main():
    folder, sound, hostile = sys.argv[1:4]
    is_brief = "--brief" in sys.argv
    scratch = tempfile.mkdtemp(prefix="orch-all-")
    commands = pages(os.path.join(scratch, "help"))
    if len(commands) < 50:
        sys.exit(f"only {len(commands)} commands were found in the help")
    triers = [Trier(folder, store) for store in (sound, hostile)]
    keys = []
    for trier in triers:
        status, out, err = trier.run(["ls", "-n", "0", "--json"])
        if status != 0:
            sys.exit(f"ls: status {status}: {err.decode()}")
        keys.append([run["key"] or "@last" for run in json.loads(out)["runs"]])
    faults = tried = 0

    def answer(which, words, run):
        trier = triers[which]
        values = trier.values(run, os.path.join(trier.place, "hub"), os.path.join(trier.place, "b.orch"))
        return trier.run([w.format(**values) if "{" in w else w for w in words])

    def attempt(words, run):
        """Of the sound store the same run each time: it is asked once for each command line."""
        known = tuple(words)
        jobs = [] if known in sound_answers else [pool.submit(answer, 0, words, keys[0][-1])]
        hostile_answer = answer(1, words, run)
        if jobs:
            sound_answers[known] = jobs[0].result()
        return judge(words, sound_answers[known], hostile_answer)

    pool, sound_answers = concurrent.futures.ThreadPoolExecutor(1), {}
    jobs = [(["export", "--bundle", "{bundle}"], None)]
    jobs += [(words, keys[1][-1]) for words in invocations(commands, is_brief)]
    for key in keys[1]:  # each run by itself
        for words in (["show", "{run}"], ["show", "{run}", "--json"], ["diff", "{run}", "@last"], ["log", "{run}"],
                      ["compare", "{run}", "@last", "--json"], ["curve", "{run}"]):
            jobs.append((words, key))
    for words, run in jobs:
        why = attempt(words, run or "")
        tried += 1
        if why:
            faults += 1
            print(f"FAILED: orch {' '.join(w.replace('{run}', run) for w in words)}: {why}", flush=True)
    for trier in triers:
        shutil.rmtree(trier.place, ignore_errors=True)
    shutil.rmtree(scratch, ignore_errors=True)
    print(f"{tried} command lines over {len(keys[1])} runs, {faults} faults")
    sys.exit(1 if faults else 0)


main()
