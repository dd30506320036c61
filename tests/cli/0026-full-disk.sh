# The disk fills while trials run: an error, nothing lost, and the same command goes on once there is space.
. "$(dirname "$0")/lib.sh"
mkdir "$SCRATCH/small"
if mount -t tmpfs -o size=3m none "$SCRATCH/small" 2>/dev/null; then
    cleanup() { cd /; umount -l "$SCRATCH/small"; rm -rf "$SCRATCH"; }
elif [ -z "${ORCH_INNER:-}" ] && unshare -rm true 2>/dev/null; then
    ORCH_INNER=1 unshare -rm bash "$0"; exit $?
else
    skip 'no small file system can be made here (neither mount nor unshare)'
fi
cd "$SCRATCH/small"; git init -q -b main .
printf 'format: 1\nrecipe: fill\nexperiments:\n  n: { plugin: "null", with: { metrics: 4000 }, repeat: 40 }\n' >fill.recipe
_run orch run fill.recipe
[ $status = 3 ] || _fail "status $status, expected 3: a full disk"
says 'hint'
ended=$(grep -c '^\[.*  ok  ' "$SCRATCH/err")
[ "$ended" -ge 1 ] && [ "$ended" -lt 40 ] || _fail "$ended trials ended before the disk was full"
ok orch ls --json -n 0; kept=$(json runs.#)
[ "$kept" -ge "$ended" ] || _fail "$ended trials were said to have ended, $kept are kept"
ok orch db check
mount -o remount,size=60m "$SCRATCH/small" || skip 'cannot enlarge the small file system'
ok orch run fill.recipe
ok orch ls --state ok --json -n 0; same "$(json runs.#)" 40
ok orch db check; ok orch run fill.recipe; says 'nothing to run: 40 of 40'
