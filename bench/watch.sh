#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What it costs to note the files that a program opens: 'orch try' of a program that does nothing, and of Python programs that
# open 10,000 files in 100 folders, with and without --no-watch, in turn. Of each the least of several runs is compared. The
# processor time of the opening, reading and hashing is what the program itself measures.
# usage: bench/watch.sh [BUILD [ROUNDS]]
set -eu
cd "$(dirname "$0")/.."
build=$(realpath "${1:-build}") rounds=${2:-5}
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cd "$work"
export ORCH_SLOTS=off XDG_CACHE_HOME=$work/cache
python=$(python3 -c 'import sys; print(sys.executable)') # not a script that looks for it
git init -q .
$python - <<'P'
import os
for i in range(100):
    os.makedirs("data/%d" % i)
    for j in range(100):
        open("data/%d/%d" % (i, j), "wb").write(os.urandom(16384))
P
echo data >.gitignore
cat >read.py <<'P'
import hashlib, os, resource, sys
def cpu_ms():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return 1e3 * (used.ru_utime + used.ru_stime)
way, begin = sys.argv[1], cpu_ms()
for i in range(100):
    for j in range(100):
        with open("data/%d/%d" % (i, j), "rb", buffering=0) as file:
            if way == "hash":
                hashlib.sha256(file.read())
open(os.environ["TIMES"] + way, "a").write("%f\n" % (cpu_ms() - begin))
P
git add .; git -c user.name=b -c user.email=b@example.org commit -qm one
now() { date +%s%N; }
mean() { # mean TRIALS WAY COMMAND...: microseconds a trial of the whole 'orch try'
    local trials=$1 way=$2 start; shift 2
    start=$(now)
    TIMES=$work/times${way:-noted} "$build/orch" try --force --yes -q --no-progress $way --repeat "$trials" -- "$@" >/dev/null 2>&1
    echo $((($(now) - start) / 1000 / trials))
}
row() { awk -v n="$1" -v a="$2" -v b="$3" 'BEGIN { printf "%-52s %8.2f ms  %8.2f ms  %5.3f times\n", n, a, b, a / b }'; }
compare() { # compare NAME TRIALS COMMAND...
    local name=$1 trials=$2 with= without= t; shift 2
    mean 1 '' "$@" >/dev/null
    for _ in $(seq "$rounds"); do
        t=$(mean "$trials" '' "$@"); [ -n "$with" ] && [ "$with" -le "$t" ] || with=$t
        t=$(mean "$trials" --no-watch "$@"); [ -n "$without" ] && [ "$without" -le "$t" ] || without=$t
    done
    row "$name" "$(awk "BEGIN { print $with / 1e3 }")" "$(awk "BEGIN { print $without / 1e3 }")"
}
least() { sort -g "$work/times$1" | head -1; }
printf '%-52s %11s  %11s\n' 'a trial of' noted --no-watch
compare '/bin/true' 50 /bin/true
compare 'python3, 10,000 files opened' 3 "$python" read.py open
row '  processor time of its opening' "$(least notedopen)" "$(least --no-watchopen)"
compare 'python3, SHA-256 of 10,000 files of 16 KiB' 3 "$python" read.py hash
row '  processor time of its reading and hashing' "$(least notedhash)" "$(least --no-watchhash)"
