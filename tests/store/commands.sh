# 'orch db': info, check, backup and merge, and stores that were changed by hand.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
sleeps naps 0.01
ok orch run naps.recipe
ok orch db backup copy.db
ok orch ls --db copy.db --json
same "$(json runs.#)" 1
fails 3 orch db backup copy.db
says copy.db
echo 'not a database, but long enough to be taken for one by its size' >text.db
fails 3 orch ls --db text.db
says text.db
cp copy.db newer.db
sqlite3 newer.db 'PRAGMA user_version=99'
sum=$(sha256sum <newer.db)
fails 3 orch ls --db newer.db
says 99
says newer
fails 3 orch run naps.recipe --db newer.db
same "$sum" "$(sha256sum <newer.db)" 'the newer store'
head -c 9000 copy.db >short.db
fails 3 orch db check --db short.db
# what was tampered with is found
cp copy.db bad.db
sqlite3 bad.db "SELECT name FROM sqlite_master WHERE type='trigger'" | while read -r t; do echo "DROP TRIGGER \"$t\";"; done | sqlite3 bad.db
sqlite3 bad.db "UPDATE run SET wall_ms = 1"
fails 7 orch db check --db bad.db
has digest
# a run does not change after it ended
sqlite3 copy.db "UPDATE run SET state='ok'" 2>msg && _fail 'an ended run could be changed'
# rm hides a run, which is then not reused; purge and gc
key=$(orch ls --format tsv | tail -n 1 | cut -f1)
ok orch rm "$key" --reason 'a test'
ok orch ls --json
same "$(json runs.#)" 0
ok orch ls --all --json
same "$(json runs.#)" 1
ok orch plan naps.recipe --json
same "$(json left)" 1
ok orch run naps.recipe
ok orch purge @last
ok orch gc
ok orch db check
fails 2 orch rm zzzz
says zzzz
