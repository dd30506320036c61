#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# One list of each vocabulary. A row names the file that has it and words that stand close together only where they are
# listed (within six lines of code, outside comments): who needs the words asks that file.
set -eu
cd "${1:-$(dirname "$0")/..}"
git ls-files -co --exclude-standard -- 'core/*.c' 'lib/*.c' 'store/*.c' 'predictors/*.c' 'features/*.c' 'plugins/*.c' | xargs python3 -c '
import re, sys
LISTS = {
    "lib/base/unit.c": ["ms", "us", "ns"],
    "lib/wire/aggregate.c": ["last", "mean", "first", "count"],
    "lib/wire/direction.c": ["none", "min", "max"],
}
STATEMENTS = {
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
sys.exit(failed)'
