#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# One list of each vocabulary. A row names the file that has it and words that stand close together only where they are
# listed (within six lines of code, outside comments): who needs the words asks that file. And a struct, union or enum
# that a header declares has a name of its own.
set -eu
cd "${1:-$(dirname "$0")/..}"
git ls-files -co --exclude-standard -- 'core/*.c' 'lib/*.c' 'store/*.c' 'predictors/*.c' 'features/*.c' 'plugins/*.c' | xargs python3 -c '
import os, re, subprocess, sys
LISTS = {
    "lib/base/unit.c": ["ms", "us", "ns"],
    "lib/wire/aggregate.c": ["last", "mean", "first", "count"],
    "lib/wire/direction.c": ["none", "min", "max"],
    "lib/space/param_space.c": ["gp", "tpe", "sobol"],
}
STATEMENTS = {
    "lib/space/param_space.h": r"gp, tpe, cmaes",
    "lib/base/reals.c": r"double \w+ = \*\(const double \*\)\w+, \w+ = \*\(const double",
    "lib/base/text.c": r"strcmp\(\*\(const char \*const \*\)\w+, \*\(const char",
    "lib/base/random.h": r"sqrt\(-2 \* log\((?:u\)|1 - )",
    "lib/net/input.c": r"scanf\([^;]*%dx%d",
    "lib/vcs/git_objects.c": r"cat-file\", \"--batch\"",
    "store/write/run_lists.c": r"INTO (?:param|input|result|artifact)\(",
    "store/read/run.c": r"strlen\([\w>.-]*key\) - 8|short_key\(const char \*key\)\n\{",
}
failed = False
for path in sys.argv[1:]:
    lines = [set(re.findall(r"\"([a-z]+)\"", line)) for line in open(path, encoding="utf-8")]
    for home, statement in STATEMENTS.items():
        if path != home and re.search(statement, open(path, encoding="utf-8").read()):
            print(f"{path}: a second statement like {statement}: ask {home}")
            failed = True
    for home, words in LISTS.items():
        for i in range(len(lines)):
            if path != home and set(words) <= set().union(*lines[i : i + 6]):
                print(f"{path}:{i + 1}: a second list of {words}: ask {home}")
                failed = True
                break
headers = {}
for path in filter(None, subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z", "*.h"], capture_output=True, text=True, check=True).stdout.split("\0")):
    if re.match("core/|lib/|store/|predictors/|features/|plugins/|include/", path) and os.path.exists(path):
        code = re.sub(r"/\*.*?\*/|//[^\n]*", "", open(path, encoding="utf-8").read(), flags=re.S)
        for kind, name in re.findall(r"\b(struct|union|enum) (\w+)\s*\{", code):
            other = headers.setdefault(name, path)
            if other != path:
                print(f"{path}: a second {kind} {name}, {other} declares one: two things need two names")
                failed = True
if not headers:
    sys.exit("no header was looked at")
sys.exit(failed)'
