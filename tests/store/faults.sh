# Every command on a store that cannot be opened explains the problem and the remedy, and leaves the file unchanged.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
sleeps naps 0.01
ok orch run naps.recipe
ok orch db backup good.db
printf 'this is a text, and long enough to be taken for a database by its size: %01000d\n' 0 >text.db
cp good.db newer.db
sqlite3 newer.db 'PRAGMA user_version=99'
size=$(stat -c %s good.db)
head -c $((size / 2 / 4096 * 4096)) good.db >short.db
head -c 50 good.db >head.db
: >empty.db
sqlite3 other.db 'CREATE TABLE moz_places(id INTEGER PRIMARY KEY)'
mkdir folder.db
sha256sum -- *.db 2>/dev/null >before
while IFS='|' read -r file what; do
    for verb in 'ls' 'show @last' 'plan naps.recipe' 'run naps.recipe' 'db check' 'db info' 'best slept_s' 'gc'; do
        [ "$file $verb" = 'empty.db run naps.recipe' ] && continue
        # shellcheck disable=SC2086
        fails 3 orch $verb --db "$file"
        says "$file"
        says "$what"
        says 'hint: '
        same "$out" '' "what 'orch $verb' prints of $file"
    done
done <<'CASES'
text.db|not a database
newer.db|schema version 99 is newer than 1
short.db|damaged or truncated
head.db|damaged or truncated
empty.db|empty
other.db|another program
folder.db|not a regular file
CASES
sha256sum -- *.db 2>/dev/null >after
same "$(cat before)" "$(cat after)" 'the stores after all that'
[ -z "$(find . -maxdepth 1 -name '*.db.d')" ] || _fail "left beside stores that were refused: $(echo ./*.db.d)"
# an empty file becomes a store when there is something to keep
ok orch run naps.recipe --db empty.db
ok orch ls --db empty.db --json
same "$(json runs.#)" 1
# a file system that cannot be written: reading works, writing says why
mkdir "$SCRATCH/ro"
if mount -t tmpfs -o size=8m none "$SCRATCH/ro" 2>/dev/null; then
    cleanup() {
        cd /
        umount -l "$SCRATCH/ro"
        rm -rf "$SCRATCH"
    }
elif [ -z "${ORCH_INNER:-}" ] && unshare -rm true 2>/dev/null; then
    ORCH_INNER=1 unshare -rm bash "$0"
    exit $?
else
    skip 'no file system can be mounted here (neither mount nor unshare): the read-only part'
fi
cp naps.recipe "$SCRATCH/ro"
cd "$SCRATCH/ro"
git init -q -b main .
ok orch run naps.recipe
ok orch ls
before=$out
mount -o remount,ro "$SCRATCH/ro" || skip 'cannot make the file system read-only'
for verb in ls 'show @last' 'plan naps.recipe' 'db check' 'db info' 'best slept_s --min'; do
    # shellcheck disable=SC2086
    ok orch $verb
done
for verb in 'run naps.recipe' 'run naps.recipe --force' 'rm @last' 'gc'; do
    # shellcheck disable=SC2086
    fails 3 orch $verb
    says 'results.db'
    says 'read-only'
    says 'hint: check the permissions'
done
ok orch ls --json
same "$(json runs.#)" 1
