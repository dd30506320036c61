# Verdicts with Slurm's accounting: a real slurmdbd with its database, slurmctld and two nodes, on loopback in the
# scratch folder. Each state of squeue and sacct is produced as in a cluster.
# test: slow timeout=900 cost=2000
. "$(dirname "$0")/../cli/lib.sh"
. "$(dirname "$0")/slurm_cluster.sh"
need_programs 'slurmdbd, mariadb-server-core; slurm.verdicts has a stand-in for the accounting' slurmdbd mariadbd sacct sacctmgr
start_cluster accounts
write_unit
cat >r.recipe <<'R'
format: 1
recipe: r
slurm: { partition: q, time: 5min, margin: 10s, memory: 100MB }
profiles:
  once: { slurm: { requeue: false } }
  low: { slurm: { partition: p } }
  low_once: { slurm: { partition: p, requeue: false } }
  high: { slurm: { partition: high } }
  minute: { slurm: { time: 1min, margin: 30s } }
experiments:
  quick: { plugin: ./unit.plugin, with: { kind: quick } }
  bad: { plugin: ./unit.plugin, with: { kind: bad } }
  big: { plugin: ./unit.plugin, with: { kind: big } }
  limit: { plugin: ./unit.plugin, with: { kind: limit } }
  frozen: { plugin: ./unit.plugin, with: { kind: frozen } }
  foreign: { plugin: ./unit.plugin, with: { kind: foreign } }
  drained: { plugin: ./unit.plugin, with: { kind: saves_drained } }
  preempted: { plugin: ./unit.plugin, with: { kind: preempted } }
  requeued: { plugin: ./unit.plugin, with: { kind: saves_requeued } }
  urgent: { plugin: ./unit.plugin, with: { kind: quick_urgent }, resources: { cores: 8 } }
  node: { plugin: ./unit.plugin, with: { kind: node } }
  moved: { plugin: ./unit.plugin, with: { kind: saves_moved } }
R
declare -A job key
submit() { # EXPERIMENT [PROFILE]
    ok orch run r.recipe "$1" ${2:+-p "$2"} --executor slurm --json
    job[$1]=$(json arrays.0.job)
    key[$1]=$(basename "$(cut -d' ' -f2 "$(grep -l "^${job[$1]}$" .orch/results.db.d/slurm/*/job | xargs dirname)/tasks")")
}
taken() {
    ask
    orch collect && orch ls -n 0 --json | grep -q "${key[$1]}" && ! orch show "${key[$1]}" --json | grep -q '"state": "running"'
}
verdict() { # EXPERIMENT STATE ORCH-STATE [PHRASE]: collects once the job has ended and the accounts have it
    until_ok 90 "job of $1 has ended" gone "${job[$1]}"
    until_ok 40 "the trial of $1 is collected" taken "$1"
    ok orch show "${key[$1]}" --json
    same "$(json facts.slurm.state)/$(json state)" "$2/$3" "$1: Slurm's state and the verdict"
    [ -z "${4:-}" ] || case $(json reason) in *"$4"*) ;; *) _fail "$1: reason '$(json reason)' lacks '$4'" ;; esac
    [ -n "$(json facts.slurm.elapsed_s)" ] && [ -n "$(json facts.slurm.exit_status)" ] || _fail "$1: nothing from the accounts"
}

# ---- what takes longest first: a trial of the shortest limit, and one whose host hangs past its limit
submit limit minute
submit frozen
submit foreign
submit quick
submit bad
submit drained
[ $MEMORY = none ] || submit big
verdict quick COMPLETED ok
same "$(json facts.slurm.exit_status)" 0:0
verdict bad FAILED failed 'exit status 3'
if [ $MEMORY = none ]; then
    echo "OUT_OF_MEMORY is stood in for by slurm.verdicts: no memory controller of cgroups v1 can be written here"
else verdict big OUT_OF_MEMORY failed 'ran out of memory'; fi # although its program ended with status 0
# ---- cancelled by another than orch
until_ok 30 'the trial has begun' begun "${job[foreign]}"
scancel "${job[foreign]}"
verdict foreign CANCELLED cancelled
# ---- the limit of a host that hangs: Slurm kills it
until_ok 30 'the trial has begun' begun "${job[frozen]}"
pkill -STOP -f "orch-host --job .*${key[frozen]}"
scontrol update jobid="${job[frozen]}_0" endtime=now+2seconds || _fail 'scontrol refuses an end'
# ---- preempted: one trial is requeued, and goes on from its checkpoint; the other must not be requeued
submit requeued low
submit preempted low_once
until_ok 30 'the trial has saved' saved saves_requeued
until_ok 30 'the trial has begun' begun "${job[preempted]}"
submit urgent high
verdict urgent COMPLETED ok
verdict preempted PREEMPTED preempted
# ---- the controller is down for a while, and slurmdbd, too: nothing that they do not know is decided
kill $accounts
wait $accounts 2>/dev/null
kill $controller
wait $controller 2>/dev/null
start_controller
until_ok 60 'the controller answers' scontrol ping
until_ok 90 'the requeued trial has ended' gone "${job[requeued]}"
ask
ok orch collect --json
has_not "${key[requeued]}"
start_accounts
verdict requeued COMPLETED ok
same "$(json results.value)/$(json facts.slurm.restarts)" 500.0/1 'it went on from its checkpoint'
# ---- a drained node lets its trial end; requeued by hand, it waits for the node
until_ok 30 'the trial has saved' saved saves_drained
verdict limit FAILED timeout 'shortly before its time limit'
verdict frozen TIMEOUT timeout 'killed at its time limit'
scontrol update nodename="n2_$$" state=drain reason=test
scontrol requeue "${job[drained]}_0"
until_ok 30 'it waits for its node' pending "${job[drained]}"
ask
ok orch collect --json
same "$(json runs)" '[]' 'a requeued trial is open'
scontrol update nodename="n2_$$" state=resume
verdict drained COMPLETED ok
same "$(json results.value)/$(json facts.slurm.restarts)" 500.0/1 'it went on from its checkpoint'
# ---- a node dies with two trials, one of which may be requeued
submit node once
submit moved
until_ok 30 'the trial has begun' begun "${job[node]}"
until_ok 30 'the trial has saved' saved saves_moved
kill_node 2
verdict node NODE_FAIL lost 'lost its node'
start_node 2
verdict moved COMPLETED ok
same "$(json results.value)/$(json facts.slurm.restarts)" 500.0/1 'it went on from its checkpoint'
ok orch collect --json
same "$(json runs)/$(json running)/$(json queued)" '[]/0/0'
nothing_left
