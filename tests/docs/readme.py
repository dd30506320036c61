#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs a page of the manual, such as the README: usage readme.py PAGE BUILD.

In a scratch repository prepared as the README says ('orch init', then a train.py that prints
'accuracy'), whose user is Ada and which has a remote and Bob's clone of it beside it, every '$ ...' command of its console blocks must print what stands below it, and every
'orch ...' line of its sh blocks must end well, in the order of the page. Keys, numbers and runs of
blanks may differ; '...' stands for any lines; /tmp is a folder of the test's. Lines that begin with './build.sh' set the machine up
and are left to build.sh's own tests.
"""
import os
import re
import subprocess
import sys
import tempfile

TRAIN = """import argparse, random
parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float)
parser.add_argument("--seed", type=int)
given = parser.parse_args()
random.seed(given.seed)
for epoch in range(3):
    print("val_accuracy", 0.5 + given.lr * epoch + 0.01 * random.random())
print("accuracy", 0.5 + 3 * given.lr + 0.01 * random.random())
"""


def blocks(text):
    """(language, lines) of each fenced block."""
    return [(m.group(1), m.group(2).splitlines())
            for m in re.finditer(r"^```(\w+)\n(.*?)^```$", text, re.M | re.S)]


def shape(line):
    """What stays of a line when keys, numbers and blanks may differ."""
    line = re.sub(r"(?<![.\w])[0-9a-f]{8}\b", "KEY", line)
    line = re.sub(r"\d+(\.\d+)?(e[-+]\d+)?", "N", line)
    return re.sub(r"\s+", " ", line).strip()


def matches(wanted, got):
    """Do the lines come in this order? '...' stands for any lines, also for none."""
    at = 0
    skipping = False
    for line in wanted:
        if line.strip() == "...":
            skipping = True
            continue
        while skipping and at < len(got) and shape(got[at]) != shape(line):
            at += 1
        if at >= len(got) or shape(got[at]) != shape(line):
            return "expected '%s', found '%s'" % (line, got[at] if at < len(got) else "the end")
        at += 1
        skipping = False
    return None if skipping or at == len(got) else "not shown: '%s'" % got[at]


class Shell:
    def __init__(self, build, folder):
        self.folder = folder
        self.env = dict(os.environ, PATH=build + ":" + os.environ["PATH"], HOME=folder + "/home",
                        XDG_DATA_HOME=folder + "/share", XDG_CONFIG_HOME=folder + "/config", XDG_CACHE_HOME=folder + "/cache",
                        LC_ALL="C", NO_COLOR="1", GIT_AUTHOR_NAME="t", GIT_AUTHOR_EMAIL="t@example.org",
                        GIT_COMMITTER_NAME="t", GIT_COMMITTER_EMAIL="t@example.org")
        for name in ("ORCH_DB", "ORCH_PLUGIN_PATH"):
            self.env.pop(name, None)

    def run(self, command):
        done = subprocess.run(["bash", "-c", command], cwd=self.folder + "/w", env=self.env,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            sys.exit("FAILED with %d: %s\n%s" % (done.returncode, command, done.stdout))
        return done.stdout


def transcript(lines):
    """(command, lines below it) of a console block."""
    out = []
    for line in lines:
        if line.startswith("$ "):
            out.append((line[2:], []))
        else:
            out[-1][1].append(line)
    return out


def check_recipe(text, folder):
    """The recipe that the page shows is the one that 'orch init' writes."""
    shown = next(lines for language, lines in blocks(text) if language == "yaml")
    recipe = [line for line in shown if line]
    with open(folder + "/w/recipes/first.recipe") as file:
        written = [line for line in file.read().splitlines() if line]
    for ours, theirs in zip(recipe, written):
        if ours != theirs:
            sys.exit("FAILED: the page's recipe has '%s', 'orch init' writes '%s'" % (ours, theirs))
    if len(recipe) != len(written):
        sys.exit("FAILED: the page's recipe and that of 'orch init' differ in length")


def main():
    readme, build = sys.argv[1:3]
    with open(readme) as file:
        text = file.read()
    with tempfile.TemporaryDirectory() as folder:
        for name in ("home", "w"):
            os.mkdir(folder + "/" + name)
        shell = Shell(os.path.realpath(build), folder)
        shell.run("git init -q -b main . && orch init")
        if "orch init" in text:
            check_recipe(text, folder)
        with open(folder + "/w/train.py", "w") as file:
            file.write(TRAIN)
        shell.run("git config user.name 'Ada Lovelace' && git config user.email ada@example.org")
        shell.run("git add -A && git commit -qm first && git init -q --bare -b main ../hub.git")
        shell.run("git remote add origin ../hub.git && git push -q origin main")
        shell.run("git clone -q ../hub.git ../bob && git -C ../bob config user.name Bob")
        shown = run = 0
        for language, lines in blocks(text):
            for command, wanted in transcript(lines) if language == "console" else []:
                said = shell.run(command.replace("/tmp/", folder + "/")).replace(folder + "/", "/tmp/")
                got = [line for line in said.splitlines() if line]
                problem = matches([line for line in wanted if line], got)
                if problem:
                    sys.exit("FAILED: $ %s\n%s\nall of it:\n%s" % (command, problem, "\n".join(got)))
                shown += 1
            for line in lines if language == "sh" else []:
                if line.startswith("orch "):
                    shell.run(line.replace("/tmp/", folder + "/"))
                    run += 1
        if not shown:
            sys.exit("FAILED: the page shows no command")
        print("%d commands with their output, %d more: all as the page says" % (shown, run))


main()
