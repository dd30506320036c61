# Time limits, Ctrl-C and the death of the runner, host, launcher or guard end all ranks, and no process is left.
. "$(dirname "$0")/lib.sh"
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
    for pid in $(cat pids); do
        for _ in $(seq 100); do
            kill -0 "$pid" 2>/dev/null || continue 2
            sleep 0.05
        done
        case $(cat "/proc/$pid/stat" 2>/dev/null) in *') Z '*) ;; *) _fail "process $pid is left: $1" ;; esac
    done
}
state() {
    ok orch show @last --json
    same "$(json state)" "$1" states
    case $(json reason) in *"$2"*) ;; *) _fail "reason: $(json reason)" ;; esac
}
# the ranks are there: their ids, and those of their guards, are in the file pids
start() {
    local before
    before=$(ls -td "$trials"/*/ 2>/dev/null | head -n 1)
    orch run sum.recipe --force --keep-trials >out1 2>err1 &
    pid=$!
    for _ in $(seq 200); do
        dir=$(ls -td "$trials"/*/ 2>/dev/null | head -n 1)
        [ "$dir" != "$before" ] && [ "$(cat "$dir"/work/pid.* 2>/dev/null | wc -l)" = 3 ] && grep -qs waiting "$dir/journal" && break
        sleep 0.05
    done
    cat "$dir"/work/pid.* >pids
    same "$(wc -l <pids)" 3 ranks
    host=$(pgrep -f "orch-host $PWD/$trials/$(basename "$dir")") || _fail "no host: $(cat err1)"
}
# a time limit: every rank is asked to stop, and one that neither reads it nor ends on SIGTERM is killed
recipe hang 3s
start
wait $pid
state timeout 'ran past its limit of 3.0 s'
gone 'a time limit'
recipe hang 60s
# Ctrl-C twice
start
kill -INT $pid
sleep 0.3
kill -INT $pid
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
for _ in $(seq 100); do
    orch ls --json | grep -q '"running"' || break
    sleep 0.1
done
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
recipe deaf 60s
rm -rf .orch/results.db.d/kept
orch run sum.recipe --force --keep-trials >out1 2>err1 &
pid=$!
for _ in $(seq 200); do
    dir=$(ls -td "$trials"/*/ 2>/dev/null | head -n 1)
    [ "$(cat "$dir"/work/pid.* 2>/dev/null | wc -l)" = 3 ] && break
    sleep 0.05
done
sleep 0.5
cat "$dir"/work/pid.* >pids
for _ in 1 2 3; do
    kill -INT $pid
    sleep 0.3
done
wait $pid
state cancelled 'Ctrl-C'
gone 'a deaf rank'
# a launcher that is killed leaves the folder of its session (Open MPI 4, and 5)
rm -rf "${TMPDIR:-/nowhere}"/ompi.* "${TMPDIR:-/nowhere}"/prte*
