# 'orch collect', 'orch ls' and 'orch run' record ended Slurm jobs once, with the node's machine and the SLURM_
# variables. Slurm is asked at most once a minute, a requeued trial resumes from its checkpoint, and trials can be
# cancelled. With stand-ins for Slurm's programs.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
. "$(dirname "$0")/slurm.sh"
cat >unit.plugin <<'P'
plugin: unit
version: 1.0.0
about: counts on from its checkpoint
licence: MIT
command: [sh, unit.sh, "${n}", "${from}"]
metrics_from: lines
parameters:
  n: {type: int, default: 1, help: a number}
  from: {type: artifact, optional: true, help: another one's file}
metrics:
  value: {help: the number, better: max}
artifacts:
  file: {path: out.txt, help: the number}
P
cat >unit.sh <<'S'
[ -z "$2" ] || cat "$2" >>out.txt
echo "$1" >>out.txt
echo "left $1" >"$ORCH_TRIAL_DIR/model.pt"
[ ! -f "$ORCH_CHECKPOINT_DIR/step" ] || { echo "value $(cat "$ORCH_CHECKPOINT_DIR/step")"; exit 0; }
if [ "$1" = 9 ]; then mkdir -p "$ORCH_CHECKPOINT_DIR"; echo 500 >"$ORCH_CHECKPOINT_DIR/step"; kill -TERM "$PPID"; sleep 5; fi
[ "$1" != 4 ] || exit 3
echo "value $1"
S
cat >r.recipe <<'R'
format: 1
recipe: r
slurm: { partition: p }
experiments:
  u: { plugin: ./unit.plugin, sweep: { n: [1, 2, 3, 4] } }
  again: { plugin: ./unit.plugin, with: { n: 9 } }
R
ok orch run r.recipe u --executor slurm
ok orch collect --json
same "$(json queued)/$(json running)/$(json runs)" '4/0/[]'
same "$(json waits_for)" Priority
# ---- at most one question a minute
for i in 1 2 3; do
    ok orch collect
    ok orch ls
    orch status --offline >/dev/null 2>&1
done
same "$(calls squeue)" 1 'questions within a minute'
play 101 0 1 3
ok orch collect --json
same "$(json running)/$(json runs)" '3/[]' 'journals have ended, but Slurm was not asked again'
minute
ok orch collect --json
same "$(json queued)/$(json runs.0.state)/$(json runs.1.state)/$(json runs.2.state)" 1/failed/ok/ok
failed=$(json runs.0.key)
key=$(json runs.1.key)
same "$(calls squeue)" 2 'questions in two minutes'
# ---- what a job left in its folder is kept, of a failed one, too
ok orch show "$key" --file model.pt
same "${out% *}" left
ok orch show "$failed" --file model.pt
same "$out" 'left 4'
# ---- twice changes nothing
before=$(orch ls -n 0 --json)
ok orch collect --json
same "$(json runs)" '[]'
same "$(orch ls -n 0 --json | sed 's/"wall_s": *[0-9.e-]*//')" "$(sed 's/"wall_s": *[0-9.e-]*//' <<<"$before")" 'collecting twice'
# ---- the node, and its job
ok orch show "$key" --json
same "$(json facts.slurm.state)/$(json facts.slurm.job)/$(json facts.slurm.environment.SLURM_ARRAY_JOB_ID)/$(json facts.slurm.environment.SLURM_JOB_PARTITION)" COMPLETED/101/101/p
same "$(json facts.slurm.place)" 'slurm p, 1 thread'
same "$(json facts.slurm.restarts)" 0
# ---- 'orch ls' and 'orch run' take in, too
play 101 2
minute
ok orch ls --json
says 'collected 1 trial of Slurm jobs: 1 ok'
[ -z "$(ls "$(slurm_folder)" | grep -)" ] || _fail "the submission's folder is left: $(ls "$(slurm_folder)")"
ok orch run r.recipe u --executor slurm --json
same "$(json done_before)/$(json submitted)" 3/1 'only the failed one is submitted again'
play 102
minute
ok orch run r.recipe u --executor slurm
says 'collected 1 trial of Slurm jobs: 1 failed'
# ---- preempted, requeued, and on from the checkpoint: the first start is no run of its own
ok orch run r.recipe again --executor slurm
job=$(ls "$CLUSTER/jobs" | tail -n 1)
play "$job"
set_state "${job}_0" PENDING
minute
ok orch collect --json
same "$(json runs)" '[]' 'a requeued trial has not ended'
play "$job"
minute
ok orch collect --json
same "$(json runs.0.state)" ok
ok orch show "$(json runs.0.key)" --json
same "$(json facts.slurm.restarts)" 1
same "$(json results.value)" 500.0 'it began anew'
# ---- a trial that refers to one in another job: its file stays until the trial has begun
cat >d.recipe <<'R'
format: 1
recipe: d
experiments:
  base: { plugin: ./unit.plugin, with: { n: 31 } }
  tune: { plugin: ./unit.plugin, with: { n: 32, from: "${base.file}" } }
R
ok orch run d.recipe --executor slurm --json
a=$(json arrays.0.job) b=$(json arrays.1.job)
play "$a"
minute
ok orch collect --json
same "$(json runs)/$(json kept)" '[]/1'
play "$b"
minute
ok orch collect --json
same "$(json runs.0.state)/$(json runs.1.state)" ok/ok
ok orch ls -e tune --json
ok orch show "$(json runs.0.key)" --json
ok orch show "$(json key)" --json
case $out in *sha256*) ;; *) _fail 'the input has no digest' ;; esac
ok orch run d.recipe --executor slurm
says 'nothing to submit'
# ---- cancelling: what had not begun leaves no run
ok orch run d.recipe --executor slurm --force
fails 2 orch cancel
fails 2 orch cancel --all abcd
fails 2 orch cancel 00000000
one=$(orch ls -n 0 --json | grep -o '"key": "[^"]*"' | cut -d'"' -f4 | while read -r k; do [ -d ".orch/results.db.d/trials/$k" ] && echo "$k"; done | head -n 1)
before=$(calls scancel)
fails 2 orch cancel "$one" 00000000
says "no waiting or running trial '00000000'"
same "$(calls scancel)" "$before" 'calls of scancel'
ok orch cancel --all
says 'cancelled 3 trials' # with the failed one, submitted again above
minute
ok orch collect --json
same "$(json cancelled)/$(json queued)" 3/0
# ---- no answer is no end
ok orch run d.recipe --executor slurm --force --json
a=$(json arrays.0.job)
play "$a"
minute
echo down >"$CLUSTER/controller"
ok orch collect --json
same "$(json runs)" '[]'
says 'Slurm gave no answer'
questions=$(calls squeue)
ok orch collect
same "$(calls squeue)" "$questions" 'a silent controller is asked as seldom'
echo up >"$CLUSTER/controller"
minute
ok orch cancel --all
minute
ok orch collect
# ---- a runner that dies after sbatch, before the store knows the job
cat >"$SCRATCH/slurm-bin/sbatch-real" <"$SCRATCH/slurm-bin/sbatch"
chmod +x "$SCRATCH/slurm-bin/sbatch-real"
stand_in sbatch <<'S'
"$(dirname "$0")/sbatch-real" "$@"; kill -9 $PPID; sleep 1
S
orch run r.recipe again --force --executor slurm >/dev/null 2>&1
ok orch run d.recipe base # closes the trials of dead runners, but not this one
minute
ok orch collect --json
same "$(json queued)" 1 'its job is found by its comment'
job=$(ls "$CLUSTER/jobs" | tail -n 1)
play "$job"
minute
ok orch collect --json
same "$(json runs.0.state)" preempted
