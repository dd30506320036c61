# A real slurmctld and slurmd on loopback, in the scratch folder: trials run, are killed, cancelled and requeued, the
# node is drained and stopped, and the controller is restarted. No process is left.
# test: slow timeout=900 cost=600
. "$(dirname "$0")/../cli/lib.sh"
. "$(dirname "$0")/slurm_cluster.sh"
CPUS=4 start_cluster
write_unit
cat >r.recipe <<'R'
format: 1
recipe: r
slurm: { partition: p, time: 5min, margin: 10s }
profiles:
  second: { slurm: { partition: q } }
experiments:
  quick: { plugin: ./unit.plugin, sweep: { kind: [quick1, quick2, quick3, bad] } }
  tune: { plugin: ./unit.plugin, sweep: { kind: [quick1, quick2, quick3, bad] }, with: { from: "${quick.file}" } }
  long: { plugin: ./unit.plugin, sweep: { kind: [long1, long2, long3] } }
  saves: { plugin: ./unit.plugin, with: { kind: saves } }
R
# ---- runs, and trials that depend on them, element by element: that of the failed one never starts
ok orch run r.recipe quick tune --executor slurm --json
a=$(json arrays.0.job) b=$(json arrays.1.job)
same "$(json arrays.1.dependency)" "aftercorr:$a"
until_ok 90 'both arrays have ended' gone "$a,$b"
ask
ok orch collect --json
same "$(states)" 'failed ok ok ok ok ok ok'
same "$(json cancelled)" 1 'the trial behind the failed one'
ok orch collect --json
same "$(json runs)" '[]' 'collecting twice'
ok orch ls -e tune --json
ok orch show "$(json runs.0.key)" --json
same "$(json facts.slurm.state)/$(json facts.slurm.environment.SLURM_JOB_NODELIST)" "COMPLETED/n1_$$"
# ---- the controller goes down in the middle, and comes back; a host is killed, one trial is cancelled
ok orch run r.recipe long --executor slurm --json
a=$(json arrays.0.job)
until_ok 60 'three run' running "$a" 3
kill $controller
wait $controller 2>/dev/null
ask
ok orch collect --json
same "$(json running)/$(json runs)" '3/[]' 'without a controller nothing has ended'
says 'Slurm gave no answer'
start_controller
until_ok 60 'the controller answers' scontrol ping
until_ok 60 'three still run' running "$a" 3
killed=$(squeue -h -r -t R -j "$a" -o %K | head -n 1)
key=$(for d in .orch/results.db.d/trials/*; do grep -l "\"SLURM_ARRAY_TASK_ID\":\"$killed\"" "$d/job.json"; done)
key=$(basename "$(dirname "$key")")
pkill -9 -f "orch-host --job .*$key"
until_ok 60 'the killed one has ended' running "$a" 2
cancelled=$(for d in .orch/results.db.d/trials/*; do basename "$d"; done | grep -v "$key" | head -n 1)
ok orch cancel "$cancelled"
says 'cancelled 1 trial'
until_ok 60 'the cancelled one has ended' running "$a" 1
ask
ok orch collect --json
same "$(states)" 'cancelled failed'
same "$(json running)" 1
# ---- the node is taken down: Slurm requeues what ran there, and it waits for the node
scontrol update nodename=n1_$$ state=down reason=test
until_ok 60 'it was requeued' pending "$a"
ask
ok orch collect --json
same "$(json runs)" '[]' 'a requeued trial has not ended'
ok orch cancel --all
until_ok 60 'all are cancelled' gone "$a"
ask
ok orch collect --json
same "$(json running)/$(json queued)" 0/0 'it has ended'
# ---- drained: a submitted trial waits, and runs once the node is back; requeued, it goes on from its checkpoint. On the other node,
# because Slurm takes minutes until a node that was down while it had jobs is idle again
scontrol update nodename=n2_$$ state=drain reason=test
ok orch run r.recipe saves -p second --executor slurm --json
a=$(json arrays.0.job)
until_ok 30 'it waits' pending "$a"
ask
ok orch collect --json
same "$(json queued)" 1
scontrol update nodename=n2_$$ state=resume
until_ok 60 'it runs' running "$a" 1
until_ok 20 'its trial has saved' saved saves
scontrol requeue "${a}_0"
until_ok 90 'it has ended' gone "$a"
ask
ok orch collect --json
same "$(states)" ok
ok orch show "$(json runs.0.key)" --json
same "$(json results.value)/$(json facts.slurm.restarts)" 500.0/1
nothing_left
