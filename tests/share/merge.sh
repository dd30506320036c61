#!/bin/bash
# 'orch db merge' forms the union of stores from files, bundles and folders; invalid runs are left out and reported.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"

sleeps nap 0,0.01 2
sleeps siesta 0.02
ORCH_USER=anna ok orch run nap.recipe --db anna.db
ORCH_USER=ben ok orch run siesta.recipe --db ben.db
ORCH_USER=ben ok orch db merge anna.db --db ben.db
says "4 new runs, 0 known"
has anna
has nap
ok orch db info --db ben.db --json
same "$(json runs)" 5 "runs after the merge"
digest=$(json digest)

# any order, any number of times; a store that is not there yet is made
ok orch db merge ben.db --db cleo.db
ok orch db merge anna.db ben.db anna.db --db cleo.db --json
same "$(json merged.0.known)" 4 "known again"
same "$(json merged.1.added)" 0 "added again"
same "$(json merged.2.after)" "$digest" "digest of the union"
ok orch db check --db cleo.db
ok orch ls --db cleo.db --json
has '"anna"'

# into itself
ok orch db merge cleo.db --db cleo.db
says "this store itself"

# a folder: its own store, else all that lie in it
mkdir -p stick/ann/.orch && cp anna.db stick/ann/.orch/results.db && cp anna.db ben.db stick/
echo "not a store" >stick/notes.txt
ok orch db merge stick/ann --db dora.db --json
same "$(json merged.0.added)" 4 "a folder's own store"
ok orch db merge stick --db dora.db --json
same "$(json merged.1.after)" "$digest" "every store of a folder"
mkdir empty
fails 3 orch db merge empty --db dora.db
says "neither a store nor a bundle"

# a classmate's run is reused here
ORCH_USER=eve ok orch run nap.recipe --db cleo.db
ok orch db info --db cleo.db --json
same "$(json runs)" 5 "nothing ran twice"

# removed runs: one's own everywhere, others' only here
key=$(sqlite3 anna.db "SELECT key FROM run ORDER BY id LIMIT 1")
ORCH_USER=ben ok orch rm "$key" --db ben.db
ok orch db merge ben.db --db dora.db
ok orch db info --db dora.db --json
same "$(json removed)" 0 "a stranger's removal"
ORCH_USER=anna ok orch rm "$key" --db anna.db
ok orch db merge anna.db --db dora.db
says "1 removal"
ok orch db info --db dora.db --json
same "$(json removed)" 1 "the author's removal"

# a store that lies: another value under the old digest
cp anna.db liar.db
sqlite3 liar.db "DROP TRIGGER run_update; UPDATE run SET wall_ms = 1e-9, who = char(27)||'[2Jevil' WHERE key = '$key'"
fails 7 orch db merge liar.db --db fay.db
says "but the run declares"
says "3 new runs"
says_not $'\e'
ok orch db check --db fay.db
sqlite3 liar.db "ALTER TABLE run RENAME TO ran; CREATE VIEW run AS SELECT * FROM ran"
fails 3 orch db merge liar.db --db fay.db
says "differs from orch's schema"

# what is no store, or one that this orch does not know
fails 3 orch db merge stick/notes.txt --db fay.db
fails 3 orch db merge nowhere.db --db fay.db
says nowhere.db
fails 3 orch db merge stick/notes.txt anna.db --db gus.db
says "4 new runs"
fails 2 orch db merge anna.db --artifacts many --db fay.db
cp anna.db newer.db
sqlite3 newer.db "PRAGMA user_version = 99"
fails 3 orch db merge newer.db --db fay.db
says "newer"

# a bundle says the same as the store that it was made of
if orch help export | grep -q -- --bundle; then
    ok orch export --bundle all.tar.gz --db cleo.db
    ok orch db merge all.tar.gz --db hal.db --json
    same "$(json merged.0.after)" "$digest" "digest of the union by way of a bundle"
fi
