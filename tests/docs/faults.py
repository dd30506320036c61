#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every test that tests/faults.md names is there.   usage: faults.py SOURCE"""
import glob
import os
import re
import sys

source = sys.argv[1]
text = open(os.path.join(source, "tests/faults.md")).read()
host = open(os.path.join(source, "tests/plugins/test_host_trials.c")).read()
code = "".join(open(path).read() for path in glob.glob(os.path.join(source, "tests/**/*.c"), recursive=True))
scripts = [os.path.basename(path) for path in glob.glob(os.path.join(source, "tests/*/[0-9]*.sh"))]
rows = [line.split("|")[1:3] for line in text.splitlines() if line.startswith("| ")]
missing, count = [], 0
for fault, tests in rows:
    for word in re.findall(r"[a-z][a-z0-9_.-]*", tests):
        if word.startswith("cli."):
            known = any(name.startswith(word[4:]) for name in scripts)
        elif word.startswith("test_"):
            known = f"static void {word}(" in code
        elif word.startswith("unit."):
            known = bool(glob.glob(os.path.join(source, f"tests/*/test_{word[5:]}.c")))
        elif re.search(rf"host\.trials[^;|]*\b{word}\b", tests) and word != "host.trials":
            known = f'{{"{word}", ' in host
        else:
            continue
        count += 1
        if not known:
            missing.append(f"{fault.strip()}: no test '{word}'")
print("\n".join(missing) if missing else f"{count} tests of {len(rows)} rows are there")
sys.exit(bool(missing) or count < 100)
