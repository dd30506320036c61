# When the disk fills during a run, the run ends with an error and loses no result, and the same command resumes once
# there is space.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
mkdir "$SCRATCH/small"
if mount -t tmpfs -o size=3m none "$SCRATCH/small" 2>/dev/null; then
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
cd "$SCRATCH/small"
git init -q -b main .
printf 'format: 1\nrecipe: fill\nexperiments:\n  n: { plugin: "null", with: { metrics: 4000 }, repeat: 40 }\n' >fill.recipe
_run orch run fill.recipe
[ $status = 3 ] || _fail "status $status, expected 3: a full disk"
says 'hint'
ended=$(grep -c '^\[.*  ok  ' "$SCRATCH/err")
[ "$ended" -ge 1 ] && [ "$ended" -lt 40 ] || _fail "$ended trials ended before the disk was full"
ok orch ls --json -n 0
kept=$(json runs.#)
[ "$kept" -ge "$ended" ] || _fail "$ended trials were said to have ended, $kept are kept"
ok orch db check
mount -o remount,size=60m "$SCRATCH/small" || skip 'cannot enlarge the small file system'
ok orch run fill.recipe
ok orch ls --state ok --json -n 0
same "$(json runs.#)" 40
ok orch db check
ok orch run fill.recipe
says 'nothing to run: 40 of 40'
# the same where an artifact finds no room: the trial waits in its folder, and is not run again
mkdir "$SCRATCH/less"
mount -t tmpfs -o size=7m none "$SCRATCH/less" || _fail 'a second small file system'
cleanup() {
    cd /
    umount -l "$SCRATCH/small" "$SCRATCH/less"
    rm -rf "$SCRATCH"
}
cd "$SCRATCH/less"
git init -q -b main .
mkdir exp
cat >exp/big.plugin <<'Y'
plugin: big
command: [sh, -c, "echo x >>$$HOME/started; head -c 4000000 /dev/urandom >big.bin"]
artifacts:
  big: big.bin
Y
printf 'format: 1\nrecipe: big\nexperiments:\n  b: { plugin: exp/big.plugin }\n' >big.recipe
fails 3 orch run big.recipe --frozen
says 'cannot write artifact'
says 'No space left on device'
says 'free some space'
[ -z "$(find .orch/results.db.d/objects -type f)" ] || _fail 'half an object is left'
mount -o remount,size=60m "$SCRATCH/less"
ok orch run big.recipe --frozen
says 'recorded the end of 1 trial'
says 'nothing to run: 1 of 1'
ok orch ls --json -n 0
same "$(json runs.#) $(json runs.0.state)" '1 ok'
ok orch db check
same "$(wc -l <"$HOME/started")" 1 'how often it ran'
