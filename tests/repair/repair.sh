# 'orch db repair' recovers the runs of a damaged store.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
# a store of 40 runs, a note, a tag; then damage
sleeps naps 0.01 40
ok orch run naps.recipe --quiet
ok orch db backup before.db
digest() {
    ok orch db info --db "$1" --json
    json digest
}
want=$(digest .orch/results.db)
db=.orch/results.db
new=$db.repaired

# nothing is wrong: nothing is lost, and the original is not touched
sum=$(sha256sum <$db)
ok orch db repair --json
same "$(json runs)" 40
same "$(json lost.#)" 0
same "$sum" "$(sha256sum <$db)" 'the file that was read'
same "$(digest $new)" "$want" 'the digest of the repaired store'
fails 3 orch db repair
says 'already exists'
says '--to'
rm -rf $new*

# a damaged first page, another program's bytes, a truncated file
dd if=/dev/zero of=$db bs=4096 count=1 conv=notrunc 2>/dev/null
fails 3 orch ls
says 'orch db repair'
ok orch db repair
has 'lost        nothing'
says 'mkdir'
same "$(digest $new)" "$want"
rm -rf $new*
cp before.db $db
truncate -s 150000 $db
sum=$(sha256sum <$db)
fails 7 orch db repair
has 'lost'
says 'orch pull'
same "$sum" "$(sha256sum <$db)" 'the truncated file'
ok orch db check --db $new
# what the damaged file lost, a backup beside it has
rm -rf $new*
cp before.db $db.old.backup
fails 7 orch db repair --json --to given.db
same "$(json runs)" 40
same "$(digest given.db)" "$want"
rm -rf given.db* $db.old.backup
head -c 50000 /dev/urandom >$db
fails 7 orch db repair --json
same "$(json runs)" 0
ok orch db check --db $new
rm -rf $new*

# the next command that it names works
cp before.db $db
dd if=/dev/zero of=$db bs=4096 count=1 conv=notrunc 2>/dev/null
ok orch db repair
eval "$(sed -n 's/^to use the new store: //p' <<<"$err")"
same "$(digest $db)" "$want"
ok orch db check
[ -e $db.damaged/results.db ] || _fail 'the damaged file is gone'

# a trial that was under way: its runner and its store are gone, its folder is there
sleeps long 600
orch run long.recipe --quiet >/dev/null 2>&1 &
runner=$!
until_true begun
kill -KILL $runner
wait $runner 2>/dev/null
none_is_left() { ! pgrep -f "$SCRATCH/w/.orch/results.db.d/trials"; }
until_true none_is_left
cp before.db $db
rm -f $db-wal $db-shm
ok orch db repair --json
same "$(json trials)" 1
same "$(json runs)" 40
mv $new $db
rm -f $new-*
ok orch run naps.recipe
says 'recorded the end of 1 trial'
ok orch db info --json
same "$(json runs)" 41
fails 3 orch db repair --db nowhere.db
says 'nowhere.db'
