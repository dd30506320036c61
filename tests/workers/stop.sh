# Time limits, Ctrl-C and the death of the runner, host, launcher or guard end all ranks, and no process is left.
# test: slow timeout=900
. "$(dirname "$0")/../cli/lib.sh"
plugin=$BUILD/tests/mpi/mpi_sum.so
[ -e "$plugin" ] || skip 'built without MPI (libopenmpi-dev, openmpi-bin)'
command -v mpirun >/dev/null || skip 'no mpirun on the PATH'
trust "$plugin"
recipe() { # END TIMEOUT
    cat >sum.recipe <<R
format: 1
recipe: sum
experiments:
  sum: { plugin: $plugin, with: { workers: 3, end: $1, who: 1 }, timeout: $2, retries: 0 }
R
}
trials=.orch/results.db.d/trials
gone() {
    local pid
    [ -s pids ] || _fail "no ids: $1"
    for pid in $(cat pids); do until_true is_gone "$pid"; done
}
state() {
    ok orch show @last --json
    same "$(json state)" "$1" states
    case $(json reason) in *"$2"*) ;; *) _fail "reason: $(json reason)" ;; esac
}
# they_wait BEFORE: in another folder than BEFORE three ranks wait; their ids, and those of their guards, are in the file pids
they_wait() {
    dir=$(ls -td "$trials"/*/ 2>/dev/null | head -n 1)
    [ "$dir" != "$1" ] && cat "$dir"/work/pid.* >pids 2>/dev/null
    [ "$dir" != "$1" ] && [ "$(wc -l <pids)" = 3 ] && grep -qs waiting "$dir/journal"
}
start() {
    local before
    before=$(ls -td "$trials"/*/ 2>/dev/null | head -n 1)
    : >pids
    orch run sum.recipe --force --keep-trials >out1 2>err1 &
    pid=$!
    until_true they_wait "$before"
    host=$(pgrep -f "orch-host $PWD/$trials/$(basename "$dir")") || _fail "no host: $(cat err1)"
}
# a time limit: every rank is asked to stop, and one that neither reads it nor ends on SIGTERM is killed. The limit is one by which a
# busy machine has started them.
for limit in 3 30 300; do
    recipe hang ${limit}s
    _run orch run sum.recipe --force --keep-trials
    cat .orch/results.db.d/kept/*/work/pid.* >pids
    [ "$(wc -l <pids)" != 3 ] || break
    rm -rf .orch/results.db.d/kept
done
state timeout 'ran past its limit of '
gone 'a time limit'
rm -rf .orch/results.db.d/kept
recipe hang 3600s
# Ctrl-C twice
start
interrupt $pid
wait $pid
state cancelled 'Ctrl-C'
gone 'Ctrl-C'
# the runner is terminated, then killed
start
kill -TERM $pid
wait $pid
state preempted ''
gone 'SIGTERM to the runner'
start
kill -KILL $pid
wait $pid 2>/dev/null
gone 'the runner was killed'
none_runs() { ! orch ls --json | grep -q '"running"'; }
until_true none_runs
# the host is killed
start
kill -KILL "$host"
wait $pid
state lost ''
gone 'the host was killed'
# the launcher is killed (mpirun of Open MPI 5 becomes prterun)
start
kill -KILL "$(pgrep -P "$host" 'mpirun|prterun')"
wait $pid
state crashed 'its launcher (mpirun or srun) was killed by signal 9 (SIGKILL)'
gone 'the launcher was killed'
# a guard is killed, and with it its rank
start
kill -KILL "$(awk '{ print $2 }' <(cat "$dir"/work/pid.2))"
wait $pid
state crashed 'rank 2 was killed'
gone 'a guard was killed'
# deaf to everything but SIGKILL
recipe deaf 3600s
rm -rf .orch/results.db.d/kept
orch run sum.recipe --force --keep-trials >out1 2>err1 &
pid=$!
is_deaf() { # rank 1 ignores SIGTERM (bit 14)
    dir=$(ls -td "$trials"/*/ 2>/dev/null | head -n 1)
    cat "$dir"/work/pid.* >pids 2>/dev/null
    [ "$(wc -l <pids)" = 3 ] && grep -qs '^SigIgn:.*[4567cdef]...$' "/proc/$(awk 'NR == 2 { print $1 }' pids)/status"
}
until_true is_deaf
interrupt $pid
interrupt $pid 2>/dev/null
wait $pid
state cancelled 'Ctrl-C'
gone 'a deaf rank'
# a launcher that is killed leaves the folder of its session (Open MPI 4, and 5)
rm -rf "${TMPDIR:-/nowhere}"/ompi.* "${TMPDIR:-/nowhere}"/prte*
