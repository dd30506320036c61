# SPDX-License-Identifier: GPL-3.0-or-later
# Sourced after lib.sh: a real Slurm on loopback, all of it in the scratch folder.
#
#   start_cluster [accounts]   munged, slurmctld and the nodes n1 and n2 (CPUS each); with accounts a MariaDB and slurmdbd, too.
#                              Partitions: p (n1), q (n2), high (n1, preempts p).
#   start_controller, start_node N, kill_node N (all of its processes at once, as when its power fails)
#   until_ok SECONDS WHAT CMD...   waits until the command succeeds
#   $MEMORY                    how the cluster enforces --mem: cgroup, or none
[ "$(id -u)" = 0 ] || skip 'it starts slurmctld as root'
PATH=$PATH:/usr/sbin
need_programs() { # PACKAGES PROGRAM...
    local packages=$1 program
    shift
    for program; do command -v "$program" >/dev/null || skip "$program is not installed ($packages)"; done
}
need_programs 'slurm-wlm, munge' slurmctld slurmd munged sbatch squeue scancel scontrol sinfo
export SLURM_CONF=$SCRATCH/slurm.conf
CPUS=${CPUS:-8} MEMORY=none pids=() nodes=()
# processes whose environment names this cluster's configuration: daemons, steps, hosts and trials
of_cluster() { grep -lzs "^SLURM_CONF=$SLURM_CONF" /proc/[0-9]*/environ | sed 's|/proc/\([0-9]*\)/environ|\1|' | grep -v "^$$\$"; }
stop() {
    local pid
    scancel --me -s KILL >/dev/null 2>&1
    scancel --me >/dev/null 2>&1
    for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null; done
    sleep 0.5
    # the list first: a program that waits for it in a pipe would be in it, and be killed before it has killed the others
    local left
    left=$(
        of_cluster
        pgrep -f "$SCRATCH/" | grep -v "^$$\$"
    )
    [ -z "$left" ] || kill -9 $left 2>/dev/null
    for pid in "${pids[@]}"; do
        kill -9 "$pid" 2>/dev/null
        wait "$pid" 2>/dev/null
    done
    [ $MEMORY = none ] || find /sys/fs/cgroup/memory/slurm_n[12]_$$ -depth -type d -exec rmdir {} + 2>/dev/null
}
trap 'was=$?; stop; cleanup $was' EXIT
port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
until_ok() {
    local end=$((SECONDS + $1)) what=$2
    shift 2
    until "$@" >/dev/null 2>&1; do
        [ $SECONDS -lt $end ] || _fail "not within its time: $what: $(
            squeue 2>&1
            sinfo 2>&1
            tail -n 5 "$SCRATCH"/slurm*.log
        )"
        sleep 0.2
    done
}
start_controller() {
    slurmctld -D >/dev/null 2>&1 &
    controller=$!
    pids+=($controller)
}
start_node() {
    slurmd -D -N "n$1_$$" >/dev/null 2>&1 &
    nodes[$1]=$!
    pids+=($!)
}
kill_node() {
    local hosts steps
    kill -9 "${nodes[$1]}"
    hosts=$(grep -lzs "^SLURMD_NODENAME=n$1_$$" /proc/[0-9]*/environ | sed 's|/proc/\([0-9]*\)/environ|\1|' | paste -sd,)
    [ -n "$hosts" ] || return 0
    steps=$(ps -o ppid= -p "$hosts" | sort -u | while read -r pid; do ! grep -qs slurmstepd "/proc/$pid/comm" || echo "$pid"; done)
    kill -9 $steps ${hosts//,/ } 2>/dev/null
    true
}
start_database() {
    local at=$SCRATCH/database
    mkdir "$at"
    database_port=$(port)
    mariadbd --no-defaults --user=root --datadir="$at" --socket="$at/socket" --pid-file="$at/pid" --port="$database_port" \
        --skip-grant-tables --bind-address=127.0.0.1 --innodb-flush-log-at-trx-commit=0 --innodb-buffer-pool-size=16M \
        --innodb-lock-wait-timeout=900 >"$SCRATCH/mariadbd.log" 2>&1 &
    pids+=($!)
    until_ok 30 'mariadbd listens' grep -q 'ready for connections' "$SCRATCH/mariadbd.log"
    (
        umask 077
        cat >"$SCRATCH/slurmdbd.conf"
    ) <<C
AuthType=auth/munge
AuthInfo=socket=$SCRATCH/munge.sock
DbdHost=localhost
DbdAddr=127.0.0.1
DbdPort=$accounts_port
SlurmUser=root
LogFile=$SCRATCH/slurmdbd.log
PidFile=$SCRATCH/slurmdbd.pid
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort=$database_port
StorageUser=root
StorageLoc=accounts
C
}
start_accounts() {
    slurmdbd -D >/dev/null 2>&1 &
    accounts=$!
    pids+=($accounts)
}
# why slurmdbd cannot work here, e.g. with a MariaDB whose library refuses its first question (11.8.9 of Debian 13)
accounts_fatal() { sed -n 's/.*fatal: //p' "$SCRATCH/slurmdbd.log" 2>/dev/null | head -n 1 | grep .; }
# --mem is enforced where the memory controller of cgroups v1 is mounted and may be written
choose_memory() {
    mkdir "/sys/fs/cgroup/memory/slurm_n1_$$" 2>/dev/null || return
    rmdir "/sys/fs/cgroup/memory/slurm_n1_$$"
    MEMORY=cgroup
    printf 'CgroupPlugin=cgroup/v1\nCgroupAutomount=no\nConstrainRAMSpace=yes\n' >"$SCRATCH/cgroup.conf"
}
write_config() { # ACCOUNTING-LINES
    local host
    host=$(hostname)
    cat >"$SLURM_CONF" <<C
ClusterName=orch
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmctldPort=$(port)
StateSaveLocation=$SCRATCH/slurm-state
SlurmdSpoolDir=$SCRATCH/spool-%n
SlurmctldPidFile=$SCRATCH/slurmctld.pid
SlurmdPidFile=$SCRATCH/slurmd-%n.pid
SlurmctldLogFile=$SCRATCH/slurmctld.log
SlurmdLogFile=$SCRATCH/slurmd-%n.log
AuthType=auth/munge
# a requeued job waits until its old credential has expired
AuthInfo=socket=$SCRATCH/munge.sock,cred_expire=5
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/$([ $MEMORY = none ] && echo none || echo cgroup)
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
DefMemPerCPU=100
MpiDefault=none
SwitchType=switch/none
$1
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=2
MinJobAge=2
OverTimeLimit=0
SlurmdTimeout=8
MaxArraySize=1001
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0
NodeName=n1_$$ NodeAddr=127.0.0.1 NodeHostname=$host Port=$(port) CPUs=$CPUS RealMemory=4000 State=UNKNOWN
NodeName=n2_$$ NodeAddr=127.0.0.1 NodeHostname=$host Port=$(port) CPUs=$CPUS RealMemory=4000 State=UNKNOWN
PartitionName=p Nodes=n1_$$ Default=YES MaxTime=INFINITE State=UP PriorityTier=1
PartitionName=high Nodes=n1_$$ MaxTime=INFINITE State=UP PriorityTier=10
PartitionName=q Nodes=n2_$$ MaxTime=INFINITE State=UP
C
}
both_idle() { [ "$(sinfo -h -N -o '%N %t' | sort -u | grep -c ' idle')" = 2 ]; }
start_cluster() {
    mkdir "$SCRATCH/slurm-state"
    chmod 755 "$SCRATCH"
    head -c 1024 /dev/urandom >"$SCRATCH/munge.key"
    chmod 400 "$SCRATCH/munge.key"
    munged --force --foreground --key-file="$SCRATCH/munge.key" --socket="$SCRATCH/munge.sock" --pid-file="$SCRATCH/munged.pid" \
        --log-file="$SCRATCH/munged.log" --seed-file="$SCRATCH/munge.seed" >/dev/null 2>&1 &
    pids+=($!)
    until_ok 20 'munged listens' test -S "$SCRATCH/munge.sock"
    choose_memory
    if [ "${1:-}" = accounts ]; then
        accounts_port=$(port)
        start_database
        write_config "JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort=$accounts_port
AccountingStoragePass=$SCRATCH/munge.sock"
        start_accounts
        accounts_answer() { accounts_fatal || sacctmgr -i add cluster orch; }
        until_ok 60 'slurmdbd knows the cluster' accounts_answer
        ! accounts_fatal >/dev/null || skip "slurmdbd cannot work here: $(accounts_fatal)"
    else
        write_config $'JobAcctGatherType=jobacct_gather/none\nAccountingStorageType=accounting_storage/none'
    fi
    start_controller
    start_node 1
    start_node 2
    until_ok 60 'the nodes are idle' both_idle
}

# ---- trials, and what Slurm says of them
write_unit() { # unit.plugin, whose kind says how a trial behaves
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
    cat >unit.sh <<'U'
[ -z "$2" ] || cat "$2"
echo "from $1" >out.txt
case $1 in
    quick*) echo 'value 1' ;;
    bad) exit 3 ;;
    big) python3 -c 'x = bytearray(400 << 20)'; echo 'value 1' ;; # goes on, and exits with 0
    saves*) # saves, is stopped, and goes on
        if [ -f "$ORCH_CHECKPOINT_DIR/step" ]; then echo "value $(cat "$ORCH_CHECKPOINT_DIR/step")"; exit 0; fi
        trap 'exit 1' TERM
        mkdir -p "$ORCH_CHECKPOINT_DIR"; echo 500 >"$ORCH_CHECKPOINT_DIR/step"; : >"$ORCH_CHECKPOINT_DIR/$1"
        while :; do sleep 0.1; done ;;
    *) sleep 300 ;;
esac
U
}
# a minute later: the kept answer is old
ask() { sed -i 's/"asked_ns": *[0-9]*/"asked_ns":1/' .orch/results.db.d/slurm/answer.json 2>/dev/null; }
gone() { ! squeue -h -j "$1" 2>/dev/null | grep -q .; } # no element of the job waits or runs
# of a job, so many run; those whose last processes are still ending (COMPLETING) count, too
running() { [ "$(squeue -h -r -t R,CG -j "$1" | wc -l)" = "$2" ]; }
pending() { [ "$(squeue -h -r -t PD -j "$1" | wc -l)" = 1 ]; }
states() { python3 -c 'import json, sys; print(*sorted(r["state"] for r in json.loads(sys.argv[1])["runs"]))' "$out"; }
# the trial of an element of a job that has begun: its folder
folder_of() { dirname "$(grep -l "\"SLURM_ARRAY_JOB_ID\":\"$1\"" .orch/results.db.d/trials/*/job.json | xargs grep -l "\"SLURM_ARRAY_TASK_ID\":\"${2:-0}\"" | head -n 1)"; }
begun() { grep -qs child "$(folder_of "$1" "${2:-0}")/journal"; }
saved() { ls .orch/results.db.d/checkpoints/*/"$1"; } # KIND
nothing_left() {
    local left pid
    stop
    left=$(
        pgrep -fa "$SCRATCH/" | grep -v "^$$ "
        for pid in $(of_cluster); do ps -o pid=,args= -p "$pid" | grep -v " /bin/bash\| xargs\| sed "; done
    )
    [ -z "$left" ] || _fail "processes are left: $left"
}
