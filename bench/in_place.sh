#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Null programs in a repository of many files: `orch try --repeat TRIALS -- true`, with one build or with
# two builds in turns, whose ratio is printed. The first row is a single trial, the capture included.
# usage: bench/in_place.sh BUILD [OTHER_BUILD]     TRIALS=1000 FILES=100000 ROUNDS=3 OPTIONS=--frozen
set -eu
builds=$(for build in "$@"; do realpath "$build"; done)
trials=${TRIALS:-1000} files=${FILES:-100000} rounds=${ROUNDS:-3} options=${OPTIONS:-}
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cd "$work"
export ORCH_SLOTS=$work/slots HOME=$work
git init -q . && git config user.email a@example.org && git config user.name a
python3 - "$files" <<'P'
import os, sys
for number in range(int(sys.argv[1])):
    folder = "d%d/e%d" % (number // 100 % 50, number // 100)
    if number % 100 == 0:
        os.makedirs(folder)
    open("%s/f%d.py" % (folder, number), "w").write("x = %d\n" % number)
P
git add -A && git commit -qm all
took() { # took BUILD N: milliseconds
    rm -rf .orch
    local start; start=$(date +%s%N)
    "$1/orch" try --repeat "$2" --yes -q --no-progress $options -- true >/dev/null 2>&1 || echo "failed: $1" >&2
    echo $((($(date +%s%N) - start) / 1000000))
}
for n in 1 "$trials"; do
    for round in $(seq "$rounds"); do
        row="$n trials, round $round:" first=
        for build in $builds; do
            ms=$(took "$build" "$n"); row="$row $ms ms"
            [ -n "$first" ] && row="$row, $(echo "$ms $first" | awk '{printf "%.2f", $1 / $2}') times"
            first=${first:-$ms}
        done
        echo "$row"
    done
done
