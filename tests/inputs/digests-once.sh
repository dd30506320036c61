#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# 'orch run' reads the cache of file digests once, however many trials it records.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
strace -o /dev/null true 2>/dev/null || skip 'no strace, or it may not trace'
printf 'data/\n' >.gitignore
mkdir data
echo 1 >data/1.csv
echo 2 >data/2.csv
printf 'read v <data/"$1".csv\necho acc $v\n' >a.sh
printf 'format: 1\nrecipe: r\nexperiments:\n  a: { plugin: ./a.plugin, sweep: { n: [1, 2], k: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] } }\n' >r.recipe
printf 'plugin: a\ncommand: [sh, a.sh, "${n}", data/1.csv]\nparameters: { n: { type: int, default: 1 }, k: { type: int, default: 1 } }\nmetrics: { acc: {} }\n' >a.plugin
git add -A
git commit -qm one
sleep 2.1 # files are cached when they are older than two seconds
ok orch plan r.recipe
[ -s "$XDG_CACHE_HOME/orch/digests" ] || _fail 'no cache'
opens() { grep -c '/orch/digests".*O_RDONLY' "$SCRATCH/trace"; }
ok strace -qq -e trace=open,openat -o "$SCRATCH/trace" orch run r.recipe
says '20 ok'
same "$(opens)" 1 'times that the cache was read'
ok strace -qq -e trace=open,openat -o "$SCRATCH/trace" orch run r.recipe
says '20 done before'
same "$(opens)" 1 'times that the cache was read'
exit 0
