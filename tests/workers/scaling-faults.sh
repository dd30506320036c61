# A worker that is killed or hangs, a missing mpirun, and an unreachable host end the trial with the reason and leave no
# process.
# test: slow timeout=1200
. "$(dirname "$0")/../cli/lib.sh"
[ -e "$BUILD/tests/mpi/mpi_sum.so" ] || skip 'built without MPI (libopenmpi-dev, openmpi-bin)'
command -v mpirun >/dev/null || skip 'no mpirun on the PATH'
export ORCH_TORCH=$BUILD/tests/plugins/tiny-torch.so
cat >t.recipe <<R
format: 1
recipe: t
experiments:
  long:
    plugin: scaling
    retries: 0
    with: { dataset: synthetic, image_size: 16, net: "mlp:8", epochs: 100000, batch: 24, per_class: 20, val_images: 10, full_validation: false,
            layout: plain, threads: 1, loader_threads: 0 }
R
# the processes of trials: those that work in a trial's folder
those() { for p in /proc/[0-9]*; do case $(readlink "$p/cwd" 2>/dev/null) in "$PWD"/.orch/*"$1") echo "${p#/proc/}" ;; esac done }
none() { [ -z "$(those '')" ]; }
none_left() { until_true none; }
ended() {
    ok orch show @last --json
    same "$(json state)" "$1" states
    case $(json reason) in *"$2"*) ;; *) _fail "reason: $(json reason)" ;; esac
}
# start OPTION...: the workers are training; the folder of worker 1 tells its process
trains() { grep -qs train_loss .orch/results.db.d/trials/*/journal && [ -n "$(those /worker-1)" ]; }
trains_or_ended() { trains || is_gone "$pid"; }
start() {
    orch run t.recipe --force "$@" >out1 2>err1 &
    pid=$!
    until_true trains
    worker=$(those /worker-1)
    [ "$(those '' | wc -l)" -ge 4 ] || _fail 'fewer processes than two workers and their guards'
}
start
kill -KILL "$worker"
wait $pid
ended crashed 'rank 1 was killed by signal 9 (SIGKILL)'
none_left 'a worker was killed'
start
kill -KILL "$(those /work | while read -r p; do grep -qs 'orch-plugin' "/proc/$p/cmdline" && echo "$p"; done)"
wait $pid
ended crashed 'rank 0 was killed by signal 9 (SIGKILL)'
none_left 'worker 0 was killed'
# it hangs: the others wait for its gradients until the time limit
# which is one by which a busy machine has begun to train
for limit in 10 50 250; do
    sed "s/retries: 0/retries: 0\n    timeout: ${limit}s/" t.recipe >limit.recipe
    orch run limit.recipe --force >out1 2>err1 &
    pid=$!
    until_true trains_or_ended
    worker=$(those /worker-1)
    [ -n "$worker" ] && kill -STOP "$worker" 2>/dev/null && break
done
wait $pid
ended timeout 'ran past its limit of '
none_left 'a worker hung'
# the trial is cancelled while it trains: all workers leave the loop after the same step
start
interrupt $pid
wait $pid
ended cancelled ''
none_left 'Ctrl-C'
# a training that fails, before it begins and while it runs
TINY_TORCH_FAIL=model_new _run orch run t.recipe --force -q
ended failed 'model_new failed on purpose'
none_left 'opening failed'
TINY_TORCH_FAIL=train:5 _run orch run t.recipe --force -q
ended failed 'train failed on purpose'
none_left 'a step failed'
# a host that cannot be reached
echo 'nowhere.invalid slots=2' >hosts
export OMPI_MCA_orte_default_hostfile=$PWD/hosts PRTE_MCA_prte_default_hostfile=$PWD/hosts # Open MPI 4, and 5
_run orch run t.recipe --force -q
[ $status = 1 ] || _fail "status $status"
ended failed 'when 0 of 2 ranks had started'
none_left 'an unreachable host'
unset OMPI_MCA_orte_default_hostfile PRTE_MCA_prte_default_hostfile
# no launcher
mkdir tools
for tool in sh bash env git sed; do at=$(command -v $tool) && ln -s "$at" "tools/$tool"; done
PATH=$BUILD:$PWD/tools ok orch plan t.recipe
has 'no mpirun on the PATH: install Open MPI'
