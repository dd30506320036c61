#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Many trials of `null` in one go, in an empty store and in one of many runs: elapsed and processor seconds, the peak
# memory of orch, and the processor time of a trial in the full store as a multiple of that in the empty one.
# Fails when a trial is missing, a store is not whole, or that multiple is over 2.
# usage: bench/many.sh [BUILD [RUNS [TRIALS]]]   (default: build 100000 10000)
set -eu
cd "$(dirname "$0")/.."
build=$(realpath "${1:-build}") runs=${2:-100000} trials=${3:-10000}
work=$(mktemp -d "${TMPDIR:-/tmp}/orch-many-XXXXXX"); trap 'rm -rf "$work"' EXIT
export HOME=$work XDG_CONFIG_HOME=$work/config XDG_CACHE_HOME=$work/cache ORCH_SLOTS=$work/slots ORCH_USER=bench
PATH=$build:$PATH
cd "$work"
printf 'format: 1\nrecipe: many\nexperiments:\n  n: { plugin: "null", repeat: %d }\n' "$trials" >many.recipe
cat >took.py <<'P'
import resource, subprocess, sys, time
begin = time.monotonic()
done = subprocess.run(sys.argv[2:], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
if done.returncode:
    sys.exit("%s: status %d: %s" % (sys.argv[1], done.returncode, done.stderr[-1000:]))
cpu = used.ru_utime + used.ru_stime
print("%-40s %9.2f s elapsed %9.2f s of processors %7.0f MiB" % (sys.argv[1], time.monotonic() - begin, cpu, used.ru_maxrss / 1024))
with open("cpu", "w") as out:
    out.write(str(cpu))
P
took() { python3 took.py "$@"; }

# go STORE WHAT: all trials, and what a user asks for afterwards
go() {
    export ORCH_DB=$work/$1/results.db
    took "$trials trials, $2" orch run many.recipe -q --yes
    eval "cpu_$1=$(cat cpu)"
    took "orch ls, $2" orch ls
    took "orch plan, $2" orch plan many.recipe
    took "orch db check, $2" orch db check
    ended=$(orch ls -n 0 --recipe many --state ok --format tsv | tail -n +2 | wc -l)
    [ "$ended" = "$trials" ] || { echo "$ended of $trials trials ended well in $2"; exit 1; }
}
mkdir full
bench_store_fill full/results.db "$runs" >/dev/null
go empty 'an empty store'
go full "a store of $runs runs"
awk -v a="$cpu_full" -v b="$cpu_empty" 'BEGIN { printf "a trial in the full store: %.2f times that in the empty one\n", a / b; exit a > 2 * b }'
