# The verdict of a Slurm trial follows from the end of its journal and Slurm's terminal state: twelve states, with and
# without accounting, each with a complete journal, an unfinished one and none. No failure is recorded as success and no
# job is lost; a trial without either stays open. With stand-ins for Slurm's programs.
# test: slow timeout=900 cost=600
. "$(dirname "$0")/../cli/lib.sh"
. "$(dirname "$0")/slurm.sh"
printf 'plugin: unit\nversion: 1.0.0\nabout: one number\nlicence: MIT\ncommand: [sh, -c, "echo value 1"]\nmetrics_from: lines\nparameters:\n  n: {type: int, default: 1, help: a number}\nmetrics:\n  value: {help: the number}\n' >unit.plugin
# elements: 0 the journal says ok, 1 it has no end, 2 there is none
printf 'format: 1\nrecipe: r\nslurm: { partition: p, time: 10min }\nexperiments:\n  u: { plugin: ./unit.plugin, sweep: { n: [1, 2, 3] } }\n' >r.recipe
prepare() { # STATE: submits, plays, and gives all three elements the state
    local e dir
    ok orch run r.recipe --force --executor slurm --json
    job=$(json arrays.0.job)
    folder=$(dirname "$(cat "$CLUSTER/jobs/$job/output")")
    play "$job" 0 1
    dir=$(sed -n 's/^1 //p' "$folder/tasks")
    sed -i '/"event":"end"/d' "$dir/journal"
    for e in 0 1 2; do set_state "${job}_$e" "$1"; done
}
# verdicts: of the three, as 'orch collect' finds them, in the order of elements; open: still open; none: cancelled before it began
verdicts() {
    local e all=
    minute
    ok orch collect --json
    for e in 0 1 2; do
        all+=$(python3 -c '
import json, sys
for r in json.loads(sys.argv[1])["runs"]:
    if r["job"] == sys.argv[2]: print(r["state"], end="")' "$out" "${job}_$e")/
    done
    echo "$all$(json cancelled)"
}
expect() { # STATE WANT [SAYS]: by squeue; then by sacct alone
    local accounting
    for accounting in on off; do
        echo $accounting >"$CLUSTER/accounting"
        prepare "$1"
        same "$(verdicts)" "$2" "$1, accounting $accounting"
    done
    echo on >"$CLUSTER/accounting"
    prepare GONE
    for e in 0 1 2; do account "${job}_$e" "$1"; done
    same "$(verdicts)" "$2" "$1, from sacct alone"
}
# the same for a state after which Slurm starts a job again: while the accounts may tell of an earlier start, a good end stays open
expect_restart() { # STATE WORD
    echo off >"$CLUSTER/accounting"
    prepare "$1"
    same "$(verdicts)" "ok/$2/$2/0" "$1, accounting off"
    echo on >"$CLUSTER/accounting"
    prepare "$1"
    same "$(verdicts)" "/$2/$2/0" "$1, accounting on"
    long_ago
    same "$(verdicts)" ok///0 "$1 again, accounting on"
    prepare GONE
    for e in 0 1 2; do account "${job}_$e" "$1"; done
    same "$(verdicts)" "/$2/$2/0" "$1, from sacct alone"
    account "${job}_0" OUT_OF_MEMORY 0:125
    same "$(verdicts)" failed///0 "$1, then the accounts of a start that ran out of memory"
}
rest() {
    ok orch cancel --all
    minute
    ok orch collect
}
#       STATE          ok/cut/none/cancelled
expect COMPLETED ok/lost/lost/0
expect FAILED failed/failed/failed/0
expect CANCELLED ok/cancelled//1
expect TIMEOUT ok/timeout/timeout/0
expect DEADLINE ok/timeout/timeout/0
expect OUT_OF_MEMORY failed/failed/failed/0
expect_restart NODE_FAIL lost
expect_restart BOOT_FAIL lost
expect_restart PREEMPTED preempted
for state in PENDING RUNNING COMPLETING SUSPENDED REQUEUED; do # preempted and requeued: it is not over
    prepare $state
    same "$(verdicts)" ///0 "$state"
    rest
done
# sacct writes who cancelled
prepare GONE
for e in 0 1 2; do account "${job}_$e" 'CANCELLED by 0'; done
same "$(verdicts)" ok/cancelled//1 'CANCELLED by 0'
# out of memory in a step, although the job counts as completed with status 0
prepare GONE
for e in 0 1 2; do
    account "${job}_$e" COMPLETED
    sed -i 's/^\(.*batch\)|COMPLETED/\1|OUT_OF_MEMORY/' "$CLUSTER/accounts/${job}_$e"
done
same "$(verdicts)" failed/failed/failed/0 'a step out of memory with exit status 0'
ok orch ls --json
ok orch show "$(json runs.0.key)"
has 'ran out of memory'
# sacct empty for a while: squeue has forgotten, the accounts do not know it yet
prepare GONE
same "$(verdicts)" ///0 'sacct is still empty'
same "$(verdicts)" ///0 'sacct is still empty a minute later'
for e in 0 1 2; do account "${job}_$e" TIMEOUT; done
same "$(verdicts)" ok/timeout/timeout/0 'sacct came late'
prepare GONE
verdicts >/dev/null
long_ago
same "$(verdicts)" ok/lost/lost/0 'sacct never came'
ok orch ls --json
ok orch show "$(json runs.0.key)" --json
case $out in *'"state": "unknown"'* | *'"state":"unknown"'*) ;; *) _fail 'an unknown state is not recorded as unknown' ;; esac
# squeue has the end before the accounts have it: a step may have run out of memory
touch "$CLUSTER/late"
prepare COMPLETED
same "$(verdicts)" ///0 'the accounts are late'
account "${job}_0" OUT_OF_MEMORY 0:125
long_ago
same "$(verdicts)" failed/lost/lost/0 'the accounts came, or are not waited for any more'
rm "$CLUSTER/late"
# no accounts, and squeue has forgotten: the journal's end counts at once, all else after a second answer
echo off >"$CLUSTER/accounting"
prepare GONE
same "$(verdicts)" ok///0 'forgotten without accounting'
long_ago
same "$(verdicts)" /lost/lost/0 'forgotten without accounting, later'
# the job's output still tells why
prepare GONE
for e in 0 1 2; do echo "slurmstepd: error: *** JOB $job ON n1 CANCELLED AT 2026-01-01T00:00:00 DUE TO TIME LIMIT ***" >>"$folder/$e.out"; done
verdicts >/dev/null
long_ago
same "$(verdicts)" /timeout/timeout/0 'Slurm wrote the reason into the output'
prepare GONE
for e in 0 1 2; do echo 'slurmstepd: error: Detected 1 oom-kill event(s) in StepId=1.batch.' >>"$folder/$e.out"; done
same "$(verdicts)" failed///0 'the output tells of memory'
long_ago
same "$(verdicts)" /failed/failed/0
# a state that squeue showed once stays known when it forgets
prepare TIMEOUT
minute
echo down >"$CLUSTER/controller"
ok orch collect
echo up >"$CLUSTER/controller"
same "$(verdicts)" ok/timeout/timeout/0
# a cluster that cannot be asked any more
prepare RUNNING
echo down >"$CLUSTER/controller"
minute
ok orch collect --without-slurm --json
same "$(json runs.0.state)/$(json running)" ok/1
