#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What it costs to note the files that a program opens: 'orch run' of a program that does nothing, and of a Python program that
# opens 1,000 files in 20 folders, with and without --no-watch. All in one run, in turn; the least of each is compared.
# usage: bench/watch.sh [BUILD]
set -eu
cd "$(dirname "$0")/.."
build=$(realpath "${1:-build}")
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cd "$work"
export ORCH_SLOTS=off XDG_CACHE_HOME=$work/cache
git init -q .
for i in $(seq 20); do mkdir -p "data/$i"; for j in $(seq 50); do echo "$j" >"data/$i/$j"; done; done
echo data >.gitignore
cat >open.py <<'P'
import os, time
begin = time.perf_counter()
for i in range(1, 21):
    for j in range(1, 51):
        open("data/%d/%d" % (i, j)).close()
took_ms = 1e3 * (time.perf_counter() - begin)
open(os.environ["TIMES"], "a").write("%f\n" % took_ms)
print("open_ms", took_ms)
P
git add .; git -c user.name=b -c user.email=b@example.org commit -qm one
now() { date +%s%N; }
mean() { # mean TRIALS WAY COMMAND...: microseconds a trial of the whole 'orch try'
    local trials=$1 way=$2 start; shift 2
    start=$(now)
    TIMES=$work/times${way:-noted} "$build/orch" try --force --yes -q --no-progress $way --repeat "$trials" -- "$@" >/dev/null 2>&1
    echo $((($(now) - start) / 1000 / trials))
}
compare() { # compare NAME TRIALS COMMAND...
    local name=$1 trials=$2 with= without= t; shift 2
    mean 2 '' "$@" >/dev/null
    for _ in 1 2 3; do
        t=$(mean "$trials" '' "$@"); [ -n "$with" ] && [ "$with" -le "$t" ] || with=$t
        t=$(mean "$trials" --no-watch "$@"); [ -n "$without" ] && [ "$without" -le "$t" ] || without=$t
    done
    awk -v n="$name" -v a="$with" -v b="$without" 'BEGIN { printf "%-44s %8.2f ms  %8.2f ms  %5.2f times\n", n, a / 1e3, b / 1e3, a / b }'
}
printf '%-44s %11s  %11s\n' 'a trial of' noted --no-watch
compare '/bin/true' 50 /bin/true
compare 'python3, 1,000 files opened' 10 python3 open.py
# the opening alone, as the program measures it
with=$(sort -g "$work/timesnoted" | head -1) without=$(sort -g "$work/times--no-watch" | head -1)
awk -v a="$with" -v b="$without" 'BEGIN { printf "%-44s %8.2f ms  %8.2f ms  %5.2f times\n", "its 1,000 openings alone", a, b, a / b }'
