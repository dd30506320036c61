# 'orch run --executor slurm' submits all trials at once as job arrays of at most MaxArraySize, with the options of
# recipe and profile. Trials that refer to others become dependent jobs. With stand-ins for Slurm's programs.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
. "$(dirname "$0")/slurm.sh"
cat >unit.plugin <<'P'
plugin: unit
version: 1.0.0
about: writes a number and a file
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
echo "value $1"
S
cat >r.recipe <<'R'
format: 1
recipe: r
slurm: { partition: p, margin: 30s, time: 10min, requeue: false }
profiles:
  big: { slurm: { partition: gpu, account: lab, qos: high, constraint: "a100&nvlink", gpu_type: a100, setup: ["export FROM_SETUP=1"] } }
experiments:
  plain: { plugin: ./unit.plugin, sweep: { n: "range(1,9)" } }
  heavy: { plugin: ./unit.plugin, with: { n: 50 }, resources: { gpus: 2, cores: 4, memory: 1GiB, time: 100min } }
R
# ---- options
ok orch run r.recipe plain --executor slurm
says 'submitted 8 trials as Slurm job 101: time 00:10:00 (slurm.time), memory by the default of the partition'
options() { cat "$CLUSTER/jobs/$1/options"; }
option() { grep -qxF -- "$2" "$CLUSTER/jobs/$1/options" || _fail "job $1 lacks $2: $(options "$1")"; }
for o in --partition=p --time=00:10:00 --signal=B:TERM@30 --array=0-7 --no-requeue --ntasks=1 --nodes=1 --cpus-per-task=1 --job-name=orch-r; do option 101 "$o"; done
! options 101 | grep -q -e '--mem' -e '--account' -e --gres || _fail "$(options 101)"
ok orch run r.recipe heavy --executor slurm -p big -j 3 --json
same "$(json submitted)/$(json arrays.0.time_from)/$(json arrays.0.memory_from)" 1/resources.time/resources.memory
for o in --partition=gpu --account=lab --qos=high '--constraint=a100&nvlink' --gres=gpu:a100:2 --cpus-per-task=4 --time=01:40:00 --mem=1088M --array=0%3; do option 102 "$o"; done
grep -qx 'export FROM_SETUP=1' "$CLUSTER/jobs/102/script" || _fail 'setup is not in the script'
head -n 1 "$CLUSTER/jobs/102/script" | grep -q -e '-l$' || _fail 'setup needs a login shell'
# ---- nothing twice, and what is submitted is shown
ok orch run r.recipe plain --executor slurm
says '8 already submitted'
same "$(calls sbatch)" 2 'calls of sbatch'
ok orch plan r.recipe plain --executor slurm
has 'submitted to Slurm (job 101_0)'
ok orch run r.recipe plain
says '8 held' # the local executor leaves them alone
ok orch ls
has queued
# ---- arrays are cut where the cluster says: MaxArraySize bounds the index
echo 5 >"$CLUSTER/max"
ok orch run r.recipe plain --executor slurm --force
same "$(cat "$CLUSTER/jobs/103/options" "$CLUSTER/jobs/104/options" | grep -e --array | tr '\n' ' ')" '--array=0-4 --array=0-2 '
echo 1001 >"$CLUSTER/max"
# ---- dependencies
cat >d.recipe <<'R'
format: 1
recipe: d
experiments:
  base: { plugin: ./unit.plugin, sweep: { n: [101, 102, 103] } }
  tune: { plugin: ./unit.plugin, sweep: { n: [101, 102, 103] }, with: { from: "${base.file}" } }
  one: { plugin: ./unit.plugin, with: { n: 107 } }
  many: { plugin: ./unit.plugin, sweep: { n: [21, 22] }, with: { from: "${one.file}" } }
  last: { plugin: ./unit.plugin, with: { n: 90, from: "${best(base, value).file}" } }
R
ok orch run d.recipe --executor slurm --json
same "$(json submitted)/$(json waiting)" 9/1 'submitted, and the best of them still open'
base=$(json arrays.0.job)
same "$(json arrays.0.trials)/$(json arrays.0.dependency)" 4/null 'base and one have equal options'
same "$(json arrays.1.dependency)" "aftercorr:$base"
same "$(json arrays.1.trials)" 3
same "$(json arrays.2.dependency)" "afterok:${base}_3"
same "$(json arrays.2.trials)" 2
option $((base + 1)) --kill-on-invalid-dep=yes
# ---- errors
fails 2 orch run r.recipe --executor slrum
says "no executor 'slrum'"
for bad in --smoke --fail-fast '--gpus 0' --share; do
    fails 2 orch run r.recipe --executor slurm $bad
    says "cannot be combined with '--executor slurm'"
done
sed 's/partition: p,/partition: nowhere,/' r.recipe >n.recipe
fails 3 orch run n.recipe plain --force --executor slurm
says 'sbatch refused the trials'
says 'invalid partition specified: nowhere'
says 'the command was: sbatch'
before=$(ls .orch/results.db.d/trials | wc -l)
echo down >"$CLUSTER/controller"
fails 3 orch run r.recipe plain --force --executor slurm
says 'cannot ask Slurm for its limits'
says 'Unable to contact slurm controller'
same "$(ls .orch/results.db.d/trials | wc -l)" "$before" 'folders are left of trials that were refused'
echo up >"$CLUSTER/controller"
wrong() {
    sed "s|^slurm:.*|slurm: { $1 }|" r.recipe >w.recipe
    fails 2 orch check w.recipe
    says "w.recipe:3"
    says "$2"
}
wrong 'partitoin: p' partition
wrong 'partition: "a b"' "'partition': 'a b' is not a word that sbatch takes"
wrong 'account: "-x"' "'account'"
wrong 'margin: soon' "'margin'"
wrong 'memory: 5 apples' "'memory'"
wrong 'requeue: perhaps' "'requeue'"
sed 's/partition: gpu/partitions: gpu/' r.recipe >w.recipe
fails 2 orch check w.recipe
says "w.recipe:5"
says partition
ok orch check r.recipe
