# Faults of several workers beyond 0278 and 0291: more workers than processors with one of them killed; an all-reduce
# worker that is killed or hangs; no mpirun; an invalid platform file. Each ends with a reason and leaves no process.
# test: slow timeout=900
. "$(dirname "$0")/../cli/lib.sh"
[ -e "$BUILD/tests/mpi/mpi_sum.so" ] || skip 'built without MPI (libopenmpi-dev, openmpi-bin)'
command -v mpirun >/dev/null || skip 'no mpirun on the PATH'
export ORCH_TORCH=$BUILD/tests/plugins/tiny-torch.so ORCH_SYSTEM_METRICS=off
cat >t.recipe <<R
format: 1
recipe: t
experiments:
  many:
    plugin: scaling
    retries: 0
    with: { dataset: synthetic, image_size: 8, net: "mlp:4", epochs: 1, batch: 24, per_class: 12, val_images: 10, full_validation: false, layout: plain,
            workers: 6, threads: 1024, loader_threads: 0 }
  sums:
    plugin: allreduce
    retries: 0
    with: { workers: 3, bytes: [1KiB], repeats: 1000000, warmup: 1, time_limit: 600s }
R
# the processes that work below this folder, but for this shell and its own
those() { for p in /proc/[0-9]*; do case $(readlink "$p/cwd" 2>/dev/null) in "$PWD"/.orch/*"$1") echo "${p#/proc/}" ;; esac done }
none_left() {
    for _ in $(seq 200); do
        [ -z "$(those '')" ] && return
        sleep 0.1
    done
    ps -o pid,stat,args -p "$(those '' | paste -sd,)"
    _fail "processes are left: $1"
}
ended() {
    ok orch show @last --json
    same "$(json state)" "$1" states
    case $(json reason) in *"$2"*) ;; *) _fail "reason: $(json reason)" ;; esac
}
# ranks N: their processes, one for each rank, by the command line that orch gives them
ranks() { those '' | while read -r p; do tr '\0' ' ' <"/proc/$p/cmdline" 2>/dev/null | grep -q '^orch-plugin' && echo "$p"; done; }
# start COUNT OPTION...: so many ranks are there
start() {
    local count=$1
    shift
    orch run t.recipe --force -q "$@" >out1 2>err1 &
    pid=$!
    for _ in $(seq 2400); do # on a loaded machine six ranks take their time
        [ "$(ranks | wc -l)" -ge "$count" ] && break
        sleep 0.05
    done
    [ "$(ranks | wc -l)" -ge "$count" ] || _fail "no $count ranks: $(cat err1)"
}
# more workers than processors: the trial runs, is marked, and leaves nothing
ok orch run t.recipe many -q
ended ok ''
has '"oversubscribed": 1'
none_left 'oversubscribed'
ok orch show @last
has 'too few CPUs: 6 workers with 1024 threads each share'
# one of them is killed
start 6 many -s epochs=100000
kill -KILL "$(ranks | tail -n 1)"
wait $pid
ended crashed 'was killed by signal 9 (SIGKILL)'
none_left 'one of many workers was killed'
# the micro-benchmark: a worker is killed, a worker hangs until the limit of time
start 3 sums
kill -KILL "$(ranks | tail -n 1)"
wait $pid
ended crashed 'was killed by signal 9 (SIGKILL)'
none_left 'a worker of an all-reduce was killed'
sed -i 's/  sums:/&\n    timeout: 4s/' t.recipe
start 3 sums
kill -STOP "$(ranks | tail -n 1)"
wait $pid
ended timeout 'ran past its limit of 4.0 s'
none_left 'a worker of an all-reduce hung'
rm -rf "${TMPDIR:?}"/ompi.* # an mpirun that is killed at the limit of time cannot remove its folder
# no mpirun: nothing is started
mkdir tools
for tool in sh bash env git sed; do at=$(command -v $tool) && ln -s "$at" "tools/$tool"; done
ok orch ls --json
before=$(json runs.#)
PATH=$BUILD:$PWD/tools _run orch run t.recipe sums --force
says 'no mpirun on the PATH: install Open MPI'
ok orch ls --json
same "$(json runs.#)" "$before" 'runs without mpirun'
none_left 'no mpirun'
# a platform file that SimGrid rejects
if command -v smpirun >/dev/null && [ -x "$BUILD/plugins/common/orch-smpi-worker" ]; then
    printf '<?xml version="1.0"?>\n<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n<platform version="4.1">\n <zone id="z" routing="Full">\n  <host id="a" speed="1Gf"/>\n  <host id="b" speed="1Gf"/>\n </zone>\n</platform>\n' >p.xml
    printf 'format: 1\nrecipe: p\nexperiments:\n  p: { plugin: simcluster, retries: 0, with: { platform: p.xml, bytes: 1KB } }\n' >p.recipe
    fails 1 orch run p.recipe -q
    ended failed "the simulation on platform file '"
    none_left 'a platform without a route'
else
    echo 'a platform with an error was not tried: no SimGrid'
fi
exit 0
