#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lists what a user can name: commands with their options, report items and their keys, keys of recipes, plugins with
their parameters and metrics. Two builds are compared with diff, which shows what a change of the structure has lost.

usage: bench/inventory.py [BUILD] >after; bench/inventory.py OTHER/build >before; diff before after

Commands and options come from 'orch help --markdown', keys from the hints of 'orch check' about a key that is not known."""
import json
import os
import re
import subprocess
import sys
import tempfile

RECIPE = """format: 1
recipe: r
nokey: 1
slurm: { nokey: 1 }
allowance: { usd: 1, nokey: 1 }
profiles: { a: { nokey: 1 } }
experiments: { n: { plugin: "null", nokey: 1, resources: { nokey: 1 } } }
report: [%s]
"""


def run(folder, *words):
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)


def known_keys(orch, folder, items):
    """'in WHAT: key' of each hint, by the place that the error names."""
    with open(os.path.join(folder, "r.recipe"), "w") as out:
        out.write(RECIPE % ", ".join("{question: 1, title: x, %s}" % item for item in items))
    found = re.findall(r"unknown key 'nokey' in (.*)\n.*\n  hint: known are: (.*)", run(folder, orch, "check", "r.recipe").stderr)
    return {(place, key) for place, keys in found for key in keys.split(", ")}


def main():
    build = os.path.realpath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "..", "build"))
    orch = os.path.join(build, "orch")
    lines = set()
    with tempfile.TemporaryDirectory() as folder:
        run(folder, orch, "help", "--markdown", "help")
        for name in os.listdir(os.path.join(folder, "help")):
            text = open(os.path.join(folder, "help", name)).read()
            title = re.search(r"^# (orch .+)$", text, re.M)
            for option in re.findall(r"^ {2}(?:-\w, |    )(--[\w-]+)", text, re.M) if title else []:
                lines.add(f"option {title.group(1)} {option}")
            if title:
                lines.add(f"command {title.group(1)}")
        keys = known_keys(orch, folder, ["nokey: 1"])
        kinds = sorted(key for place, key in keys if place == "a report item")
        for kind in kinds:  # one at a time: 'check' stops after some errors
            keys |= known_keys(orch, folder, ["%s: { nokey: 1 }" % kind])
        lines |= {f"key {place}: {key}" for place, key in keys}
        for row in json.loads(run(folder, orch, "plugin", "ls", "--json").stdout)["plugins"]:
            shown = json.loads(run(folder, orch, "plugin", "show", row["plugin"], "--json").stdout)
            lines.add(f"plugin {row['plugin']}")
            lines |= {f"plugin {row['plugin']} {what}: {each['name']}" for what in ("params", "metrics", "artifacts") for each in shown[what]}
    print("\n".join(sorted(lines)))


if __name__ == "__main__":
    main()
