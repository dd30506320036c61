#!/usr/bin/env bash
# The time of 'orch compare' is proportional to the number of runs, and its result does not depend on the order of the
# search.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
export ORCH_SLOTS=off
[ -x "$BUILD/bench_store_fill" ] || skip 'bench_store_fill is not built'
seconds() { # seconds CMD...: the processor time of a command, the least of three
    python3 -c '
import os, resource, subprocess, sys
least = None
for _ in range(3):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime - before.ru_utime
    least = spent if least is None else min(least, spent)
print(least)' "$@"
}
for n in 4000 16000; do
    mkdir s$n
    "$BUILD/bench_store_fill" s$n/r.db $n timed >/dev/null 2>&1 || _fail "cannot fill a store with $n runs"
done
small=$(seconds orch compare experiment=n experiment=n --db s4000/r.db)
large=$(seconds orch compare experiment=n experiment=n --db s16000/r.db)
python3 -c "
ratio = $large / $small
print('4,000 runs: %.2f s, 16,000 runs: %.2f s, ratio %.1f' % ($small, $large, ratio))
raise SystemExit(ratio > 7)" || _fail "four times the runs take $large s instead of $small s"
