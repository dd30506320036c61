#!/usr/bin/env bash
# On a full disk the store can be read, including rows that are only in its log, and 'orch gc' frees space.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
mkdir "$SCRATCH/small"
if mount -t tmpfs -o size=4m none "$SCRATCH/small" 2>/dev/null; then
    cleanup() {
        cd /
        umount -l "$SCRATCH/small"
        rm -rf "$SCRATCH"
    }
elif [ -z "${ORCH_INNER:-}" ] && unshare -rm true 2>/dev/null; then
    ORCH_INNER=1 unshare -rm bash "$0"
    exit $?
else
    skip 'no small file system can be made here (neither mount nor unshare)'
fi
export ORCH_SLOTS=off
cd "$SCRATCH/small"
git init -q -b main .
printf 'format: 1\nrecipe: t\nexperiments:\n  e: { plugin: "null", repeat: 3 }\n' >t.recipe
fill() { head -c 8m /dev/zero >fill 2>/dev/null; }
ok orch run t.recipe
[ ! -e .orch/results.db-shm ] || _fail 'the store was not closed'
fill
for command in 'ls -n 0' 'show @last' 'export' 'plan t.recipe' 'log @last' 'db info' 'compare experiment=e experiment=e' 'report t.recipe'; do
    ok orch $command
done
ok orch ls -n 0 --json
same "$(json runs.#)" 3
# two at once wait for each other
orch ls -n 0 --json >"$SCRATCH/one" &
orch ls -n 0 --json >"$SCRATCH/two"
first=$?
wait $!
same "$first $?" '0 0'
# what writes says what is large and what can be done
fails 3 orch note @last hello
says 'the disk is full'
says "free some space"
says "orch gc"
says 'the database '
# a page would need several connections
fails 3 timeout 60 orch serve --port 0
says 'the disk is full'
# gc reads without writing, and frees the folders that nothing needs
mkdir -p .orch/results.db.d/kept/0192a3b4-c5d6-7e8f-8123-456789abcdef
rm fill
head -c 1500000 /dev/zero >.orch/results.db.d/kept/0192a3b4-c5d6-7e8f-8123-456789abcdef/big
fill
ok orch gc --dry-run
has 'would remove 1 '
ok orch gc
has 'removed 1 '
ok orch note @last hello
rm fill
# rows that are in the log only, as after a kill: the log and no shared memory, on a full disk
python3 - <<'P'
import os, sqlite3
db = sqlite3.connect(".orch/results.db", isolation_level=None)
db.execute("PRAGMA wal_autocheckpoint = 0")
db.execute("INSERT INTO note(key, target, kind, text, who, made, public) SELECT 'ffffffff-ffff-7fff-8fff-ffffffffffff', key,"
           " 'note', 'only in the log', who, 1700000000000000000, 0 FROM run LIMIT 1")
os._exit(0) # as when killed: the log stays
P
[ -s .orch/results.db-wal ] || _fail 'there is no log'
rm -f .orch/results.db-shm
fill
key=$(python3 -c "
import sqlite3; print(sqlite3.connect('file:$PWD/.orch/results.db?mode=ro&immutable=1', uri=True).execute('SELECT key FROM run ORDER BY id LIMIT 1').fetchone()[0])")
ok orch show "$key"
has 'only in the log'
rm fill
ok orch show "$key"
has 'only in the log'
ok orch db check
# with space again, all is as before
ok orch run t.recipe
says 'nothing to run: 3 of 3'
