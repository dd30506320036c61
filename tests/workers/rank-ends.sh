# A rank that crashes or fails ends the trial; the reason contains its number and how it ended. No process is left.
# test: slow timeout=900
. "$(dirname "$0")/../cli/lib.sh"
plugin=$BUILD/tests/mpi/mpi_sum.so
[ -e "$plugin" ] || skip 'built without MPI (libopenmpi-dev, openmpi-bin)'
command -v mpirun >/dev/null || skip 'no mpirun on the PATH'
trust "$plugin"
cat >sum.recipe <<R
format: 1
recipe: sum
experiments:
  sum: { plugin: $plugin, with: { workers: 3 }, timeout: 60s }
R
# gone: none of the processes whose ids the ranks and their guards wrote is left
gone() {
    local pid
    cat .orch/results.db.d/kept/*/work/pid.* >pids 2>/dev/null
    [ -s pids ] || _fail "no ids: $1"
    for pid in $(cat pids); do until_true is_gone "$pid"; done
}
# ends STATE REASON -s ...: one trial, its state and its reason
ends() {
    local state=$1 reason=$2
    shift 2
    _run orch run sum.recipe --force --keep-trials -q "$@"
    ok orch show @last --json
    same "$(json state)" "$state" "states ($*)"
    local found
    found=$(json reason)
    same "${found% at mpi_sum.c:*}" "$reason" "reasons ($*)"
    gone "$*"
    rm -rf .orch/results.db.d/kept
}
ends crashed 'rank 2 was killed by signal 9 (SIGKILL)' -s end=signal -s who=2
same "$(json signal)" 9 'the signal'
ends crashed 'rank 0 was killed by signal 11 (SIGSEGV) in end_wrongly' -s end=signal -s who=0 -s number=11
ends crashed 'rank 1 was killed by signal 15 (SIGTERM)' -s end=signal -s who=1 -s number=15
ends failed 'rank 1 ended with exit status 3' -s end=exit -s who=1 -s number=3
same "$(json exit_code)" 3 'the exit status'
ends protocol-error "rank 2 exited with status 0 without a 'done' event" -s end=exit -s who=2 -s number=0
ends failed 'rank 1 ended with exit status 5' -s end=abort -s who=1 -s number=5
ends crashed 'rank 1 was killed by signal 9 (SIGKILL)' -s end=late -s who=1
ends failed 'rank 2: told to end this way' -s end=fail -s who=2
ends failed 'told to end this way' -s end=fail -s who=0
ends failed 'rank 1: failed without a reason' -s end=silent -s who=1
ends skipped 'rank 1: told to end this way' -s end=skip -s who=1
ends diverged 'rank 1: told to end this way' -s end=diverged -s who=1
ends protocol-error "undeclared metric 'undeclared': the plugin declares others" -s end=babble
# the launcher ends the others when one rank exits without MPI_Finalize: which is seen first is a matter of time
_run orch run sum.recipe --force --keep-trials -q -s end=unfinished
[ $status = 1 ] || _fail 'a rank without MPI_Finalize'
ok orch show @last --json
has 'does each rank call MPI_Finalize?'
gone unfinished
rm -rf .orch/results.db.d/kept
ends ok null -s end=well
