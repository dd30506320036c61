# A real slurmctld and slurmd, on loopback and in the scratch folder: trials run, are killed, cancelled and
# requeued, the node is drained and taken down, and the controller restarted in the middle. Afterwards no
# process is left.
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" = 0 ] || skip 'it starts slurmctld as root'
for program in slurmctld slurmd munged sbatch squeue scancel scontrol sinfo; do
    command -v $program >/dev/null || PATH=$PATH:/usr/sbin
    command -v $program >/dev/null || skip "$program is not installed (slurm-wlm, munge)"
done
export SLURM_CONF=$SCRATCH/slurm.conf
pids=()
stop() {
    local pid
    scancel --me -s KILL >/dev/null 2>&1; scancel --me >/dev/null 2>&1
    for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null; done
    sleep 0.5
    pgrep -f "$SCRATCH/" | grep -v "^$$\$" | xargs -r kill -9 2>/dev/null
    for pid in "${pids[@]}"; do kill -9 "$pid" 2>/dev/null; wait "$pid" 2>/dev/null; done
}
trap 'stop; cleanup' EXIT
port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
mkdir "$SCRATCH/state" "$SCRATCH/spool"; chmod 755 "$SCRATCH"
head -c 1024 /dev/urandom >"$SCRATCH/munge.key"; chmod 400 "$SCRATCH/munge.key"
munged --force --foreground --key-file="$SCRATCH/munge.key" --socket="$SCRATCH/munge.sock" --pid-file="$SCRATCH/munged.pid" \
    --log-file="$SCRATCH/munged.log" --seed-file="$SCRATCH/munge.seed" >/dev/null 2>&1 &
pids+=($!)
host=$(hostname)
cat >"$SLURM_CONF" <<C
ClusterName=orch
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmctldPort=$(port)
SlurmdPort=$(port)
StateSaveLocation=$SCRATCH/state
SlurmdSpoolDir=$SCRATCH/spool
SlurmctldPidFile=$SCRATCH/slurmctld.pid
SlurmdPidFile=$SCRATCH/slurmd.pid
SlurmctldLogFile=$SCRATCH/slurmctld.log
SlurmdLogFile=$SCRATCH/slurmd.log
AuthType=auth/munge
AuthInfo=socket=$SCRATCH/munge.sock
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=3
MaxArraySize=1001
SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0
NodeName=n1 NodeAddr=127.0.0.1 NodeHostname=$host CPUs=4 State=UNKNOWN
PartitionName=p Nodes=n1 Default=YES MaxTime=INFINITE State=UP
C
start_controller() { slurmctld -D -f "$SLURM_CONF" >/dev/null 2>&1 & controller=$!; pids+=($controller); }
until_ok() { # SECONDS WHAT CMD...: until the command succeeds
    local end=$((SECONDS + $1)) what=$2; shift 2
    until "$@" >/dev/null 2>&1; do [ $SECONDS -lt $end ] || _fail "not within its time: $what: $(squeue 2>&1; tail -n 5 "$SCRATCH"/slurm*.log)"; sleep 0.3; done
}
until_ok 20 'munged listens' test -S "$SCRATCH/munge.sock"
start_controller
slurmd -D -N n1 -f "$SLURM_CONF" >/dev/null 2>&1 & pids+=($!)
node_is() { sinfo -h -o %t | grep -q "$1"; }
until_ok 60 'the node is idle' node_is idle

cat >unit.plugin <<'P'
plugin: unit
version: 1.0.0
about: behaves as its kind says
licence: MIT
command: [sh, unit.sh, "${kind}", "${from}"]
metrics_from: lines
parameters:
  kind: {type: string, default: quick, help: how it behaves}
  from: {type: artifact, optional: true, help: another one's file}
metrics:
  value: {help: a number}
artifacts:
  file: {path: out.txt, help: a text}
P
cat >unit.sh <<'S'
[ -z "$2" ] || cat "$2"
echo "from $1" >out.txt
case $1 in
    quick*) echo 'value 1' ;;
    bad) exit 3 ;;
    saves) # is preempted once, saves, and goes on
        if [ -f "$ORCH_CHECKPOINT_DIR/step" ]; then echo "value $(cat "$ORCH_CHECKPOINT_DIR/step")"; exit 0; fi
        trap 'mkdir -p "$ORCH_CHECKPOINT_DIR"; echo 500 >"$ORCH_CHECKPOINT_DIR/step"; exit 1' TERM
        while :; do sleep 0.1; done ;;
    *) sleep 300 ;;
esac
S
cat >r.recipe <<'R'
format: 1
recipe: r
slurm: { partition: p, time: 5min, margin: 10s }
experiments:
  quick: { plugin: ./unit.plugin, sweep: { kind: [quick1, quick2, quick3, bad] } }
  tune: { plugin: ./unit.plugin, sweep: { kind: [quick1, quick2, quick3, bad] }, with: { from: "${quick.file}" } }
  long: { plugin: ./unit.plugin, sweep: { kind: [long1, long2, long3] } }
  saves: { plugin: ./unit.plugin, with: { kind: saves } }
R
ask() { sed -i 's/"asked_ns": *[0-9]*/"asked_ns":1/' .orch/results.db.d/slurm/answer.json 2>/dev/null; }
gone() { ! squeue -h -j "$1" 2>/dev/null | grep -q .; } # no element of the job waits or runs
# of a job, so many run; those whose last processes are still ending (COMPLETING) count, too
running() { [ "$(squeue -h -r -t R,CG -j "$1" | wc -l)" = "$2" ]; }
states() { python3 -c 'import json, sys; print(*sorted(r["state"] for r in json.loads(sys.argv[1])["runs"]))' "$out"; }

# ---- runs, and trials that depend on them, element by element: that of the failed one never starts
ok orch run r.recipe quick tune --executor slurm --json
a=$(json arrays.0.job) b=$(json arrays.1.job); same "$(json arrays.1.dependency)" "aftercorr:$a"
until_ok 90 'both arrays have ended' gone "$a,$b"
ask; ok orch collect --json; same "$(states)" 'failed ok ok ok ok ok ok'; same "$(json cancelled)" 1 'the trial behind the failed one'
ok orch collect --json; same "$(json runs)" '[]' 'collecting twice'
ok orch ls -e tune --json; ok orch show "$(json runs.0.key)" --json
same "$(json facts.slurm.state)/$(json facts.slurm.environment.SLURM_JOB_NODELIST)" COMPLETED/n1
# ---- the controller goes down in the middle, and comes back; a host is killed, one trial is cancelled
ok orch run r.recipe long --executor slurm --json; a=$(json arrays.0.job)
until_ok 60 'three run' running "$a" 3
kill $controller; wait $controller 2>/dev/null
ask; ok orch collect --json; same "$(json running)/$(json runs)" '3/[]' 'without a controller nothing has ended'; says 'Slurm gave no answer'
start_controller; until_ok 60 'the controller answers' scontrol ping; until_ok 60 'three still run' running "$a" 3
killed=$(squeue -h -r -t R -j "$a" -o %K | head -n 1)
key=$(for d in .orch/results.db.d/trials/*; do grep -l "\"SLURM_ARRAY_TASK_ID\":\"$killed\"" "$d/job.json"; done); key=$(basename "$(dirname "$key")")
pkill -9 -f "orch-host --job .*$key"
until_ok 60 'the killed one has ended' running "$a" 2
cancelled=$(for d in .orch/results.db.d/trials/*; do basename "$d"; done | grep -v "$key" | head -n 1)
ok orch cancel "$cancelled"; says 'cancelled 1 trial'
until_ok 60 'the cancelled one has ended' running "$a" 1
ask; ok orch collect --json; same "$(states)" 'cancelled failed'; same "$(json running)" 1
# ---- the node is taken down: Slurm requeues what ran there, and it waits for the node
scontrol update nodename=n1 state=down reason=test
pending() { [ "$(squeue -h -r -t PD -j "$a" | wc -l)" = 1 ]; }
until_ok 60 'it was requeued' pending
ask; ok orch collect --json; same "$(json runs)" '[]' 'a requeued trial has not ended'
ok orch cancel --all; until_ok 60 'all are cancelled' gone "$a"
ask; ok orch collect --json; same "$(json running)/$(json queued)" 0/0 'it has ended'
scontrol update nodename=n1 state=resume 2>/dev/null; until_ok 60 'the node is back' node_is idle # it may be back by itself
# ---- drained: a submitted trial waits, and runs once the node is back; requeued, it goes on from its checkpoint
scontrol update nodename=n1 state=drain reason=test
ok orch run r.recipe saves --executor slurm --json; a=$(json arrays.0.job)
until_ok 30 'it waits' pending
ask; ok orch collect --json; same "$(json queued)" 1
scontrol update nodename=n1 state=resume
until_ok 60 'it runs' running "$a" 1
until_ok 20 'its trial has begun' grep -q child .orch/results.db.d/trials/*/journal
scontrol requeue "${a}_0"
until_ok 200 'it has ended' gone "$a"
ask; ok orch collect --json; same "$(states)" ok
ok orch show "$(json runs.0.key)" --json; same "$(json results.value)/$(json facts.slurm.restarts)" 500.0/1
# ---- nothing is left
stop
left=$(pgrep -fa "$SCRATCH/" | grep -v "^$$ " || true); [ -z "$left" ] || _fail "processes are left: $left"
