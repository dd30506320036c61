#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Prints line and branch coverage by folder, of a build with the preset 'coverage' after tests have run.

usage: table.py SOURCE BUILD [--files]

A line or branch that is compiled into several programs counts once, and is covered when it is in any of them.
"""
import collections
import json
import os
import subprocess
import sys

BATCH = 40  # objects that one gcov reads


def objects(build):
    for folder, _, names in os.walk(build):
        yield from (os.path.join(folder, name) for name in names if name.endswith(".gcno"))


def read(source, build):
    """Counts by file: {line: count}, {(line, index of the branch): count}."""
    lines, branches = collections.defaultdict(dict), collections.defaultdict(dict)
    all_objects = sorted(objects(build))
    if not all_objects:
        sys.exit("table.py: '%s' holds no *.gcno: build it with the preset 'coverage'" % build)
    for at in range(0, len(all_objects), BATCH):
        done = subprocess.run(["gcov", "--branch-probabilities", "--json-format", "--stdout"] + all_objects[at:at + BATCH],
                              capture_output=True, text=True, cwd=build)
        for text in done.stdout.splitlines():
            report = json.loads(text)
            for part in report["files"]:
                path = os.path.relpath(os.path.join(report["current_working_directory"], part["file"]), source)
                if path.startswith(("..", "build", "tests" + os.sep, "bench" + os.sep)):
                    continue
                if not os.path.exists(os.path.join(source, path)):
                    continue  # an object of a file that was renamed or removed since
                for line in part["lines"]:
                    number = line["line_number"]
                    lines[path][number] = max(line["count"], lines[path].get(number, 0))
                    for index, branch in enumerate(line["branches"]):
                        key = number, index
                        branches[path][key] = max(branch["count"], branches[path].get(key, 0))
    return lines, branches


def share(counts):
    covered = sum(1 for count in counts if count)
    return "%6d %7.1f %%" % (len(counts), 100 * covered / len(counts)) if counts else "     0       -  "


def main():
    source, build = os.path.realpath(sys.argv[1]), os.path.realpath(sys.argv[2])
    lines, branches = read(source, build)
    groups = collections.defaultdict(list)
    for path in lines:
        groups[path if "--files" in sys.argv else os.path.dirname(path)].append(path)
    width = max(map(len, groups)) if groups else 6
    print("%-*s  %6s %9s   %6s %9s" % (width, "folder", "lines", "covered", "branch", "covered"))
    for name, paths in sorted(groups.items()) + [("all", list(lines))]:
        print("%-*s  %s   %s" % (width, name, share([c for p in paths for c in lines[p].values()]),
                                 share([c for p in paths for c in branches[p].values()])))


if __name__ == "__main__":
    main()
