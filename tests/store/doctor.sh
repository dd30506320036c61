# 'orch doctor' reports what the machine has, and tests whether two hosts see each other's locks.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
sleeps naps 0.01
ok orch run naps.recipe --quiet
_run orch doctor --json
found() { python3 -c 'import json, sys
rows = [r for r in json.load(sys.stdin)["findings"] if r["what"] == sys.argv[1]]
print(rows[0]["state"] if rows else "none", "|", rows[0]["found"] if rows else "")' "$1" <<<"$out"; }
for what in write fsync clock lock 'exclusive create' link rename; do
    case $(found "probe: $what") in ok*) ;; *) _fail "probe $what: $(found "probe: $what")" ;; esac
done
case $(found 'store: layout') in *'one file'*) ;; *) _fail "layout: $(found 'store: layout')" ;; esac
same "$(found 'probe: lock of another host')" 'none | '
same "$(find . -name "*doctor*" -not -path "./.git/*")" "" 'files that the probes left'
# two at once: the one sees the lock of the other
orch doctor --hold 20 2>/dev/null &
holder=$!
await -s .orch/results.db.d/doctor.lock
_run orch doctor --json
case $(found 'probe: lock of another host') in ok*'is seen here'*) ;; *) _fail 'the lock is not seen' ;; esac
kill $holder
wait $holder 2>/dev/null
fails 2 orch doctor --hold never
says '--hold'
# shared, and why; a damaged shard; a journal that a dead writer left
export ORCH_SHARDS=1 ORCH_SHARD_HOST=anna
_run orch doctor --json
case $(found 'store: layout') in *'ORCH_SHARDS=1'*) ;; *) _fail "layout: $(found 'store: layout')" ;; esac
head -c 9000 /dev/zero >.orch/results.db.d/shards/bert.db
printf 'x' >.orch/results.db.d/shards/bert.db-journal
touch -d '1 hour ago' .orch/results.db.d/shards/bert.db-journal
fails 7 orch doctor
has 'bert.db'
has 'bert.db-journal'
