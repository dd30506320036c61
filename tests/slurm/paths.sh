#!/bin/bash
# A store below a folder whose name contains a pattern of sbatch: '%' is passed as a character, and a path that cannot
# be passed is refused before submission.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
. "$(dirname "$0")/slurm.sh"
cat >"$SCRATCH/r.recipe" <<'R'
format: 1
recipe: r
slurm: { partition: p }
experiments:
  nap: { plugin: sleep, sweep: { seconds: [0, 0.01] } }
R
there() {
    mkdir -p "$1"
    cd "$1" || exit 1
    git init -q .
    cp "$SCRATCH/r.recipe" .
}
there "$SCRATCH/w/100%a of %j %% %u"
ok orch run r.recipe --executor slurm --json
job=$(json arrays.0.job)
play "$job"
folder=$(slurm_folder)
same "$(ls "$folder"/*/*.out 2>/dev/null | wc -l)/$(find "$SCRATCH/w" -name '*EXPANDED*' | wc -l)" 2/0 'files of output'
ok orch collect
says '2 ok'
ok orch ls --state ok
same "$(grep -c ' ok ' <<<"$out")" 2 'trials that ended well'
for bad in $'line\nbreak' 'back\slash'; do
    there "$SCRATCH/w/$bad"
    before=$(grep -c '^sbatch' "$CLUSTER/calls")
    fails 2 orch run r.recipe --executor slurm
    says "Slurm cannot write to the store's folder"
    says 'its path has a '
    says 'hint: rename the folder'
    same "$(grep -c '^sbatch' "$CLUSTER/calls")" "$before" 'calls of sbatch'
    ok orch run r.recipe # without Slurm such a folder is as good as another
    there "$SCRATCH/w/$bad"
    ok orch ls
    has nap
done
