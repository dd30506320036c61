#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A list of runs that is handed to SQLite as JSON is the outer loop of a join: 'FROM json_each(..) j CROSS JOIN'. With
# JOIN SQLite may look through the whole list for each row of the store, which is quadratic.
set -eu
cd "${1:-$(dirname "$0")/..}"
found=$(git ls-files -co --exclude-standard -- 'store/*.c' 'features/*.c' | xargs python3 -c '
import re, sys
for path in sys.argv[1:]:
    text = re.sub(r"\"\s*\"", "", open(path, encoding="utf-8").read())
    for hit in re.finditer(r"FROM json_each\(\??\d*\) \w+ JOIN [^\"]*", text):
        print(f"{path}: {hit.group()}")' || true)
[ -z "$found" ] || { printf 'use CROSS JOIN:\n%s\n' "$found"; exit 1; }
