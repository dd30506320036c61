#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A script writes a cache in its first run and reads it in the second. Editing the cache makes the result stale,
# although the first run wrote it and did not read it as an input; the reason names the file.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
[ -e "$BUILD/orch-watch.so" ] || skip 'no orch-watch.so'
cat >dl.py <<'P'
import os, sys
cache = sys.argv[1] if len(sys.argv) > 1 else "ca" + "che"
os.makedirs(cache, exist_ok=True)
f = cache + "/set" + ".csv"
if not os.path.exists(f):
    open(f + ".part", "w").write("1\n2\n3\n")
    os.rename(f + ".part", f)
print("sum", sum(float(x) for x in open(f)))
P
echo cache/ >.gitignore
git add -A
git commit -qm one
for cache in '' cache "$SCRATCH/far"; do
    rm -rf cache
    ok orch try -- python3 dl.py $cache
    ok orch try -- python3 dl.py $cache
    says '1 done before'
    ok orch try --force -- python3 dl.py $cache
    ok orch try -- python3 dl.py $cache
    says '1 done before'
    echo 9 >>"${cache:-cache}/set.csv"
    ok orch try -n -- python3 dl.py $cache
    out=$out$err
    has 'stale'
    has "${cache:-cache}"
    has_not 'what it reads changed'
    ok orch try -- python3 dl.py $cache
    ok orch show @last
    has 15
    ok orch try -- python3 dl.py $cache
    says '1 done before'
done
# the cache is put back as it was: the run that read it so counts again
rm -rf cache
ok orch try --force -- python3 dl.py
ok orch try --force -- python3 dl.py
cp cache/set.csv "$SCRATCH/set.csv"
echo 8 >>cache/set.csv
ok orch try -- python3 dl.py
says '1 ok'
cp "$SCRATCH/set.csv" cache/set.csv
ok orch try -- python3 dl.py
says '1 done before'
exit 0
