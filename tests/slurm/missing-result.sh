#!/bin/bash
# A run without the result that a trial refers to costs that trial and those that refer to it: all others are submitted
# to Slurm. With stand-ins for Slurm's programs.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
. "$(dirname "$0")/slurm.sh"
. "$(dirname "$0")/../cli/missing_result.sh"
cat >missing.recipe <<'R'
format: 1
recipe: missing
slurm: { partition: p }
experiments:
  first: { plugin: ./sometimes.plugin, sweep: { n: [1, 2] } }
  use: { plugin: ./look.plugin, with: { value: "${first.final}" }, sweep: { n: [1, 2] } }
  further: { plugin: ./look.plugin, with: { value: "${use.seen}" }, sweep: { n: [1, 2] } }
  silent: { plugin: ./sometimes.plugin, with: { n: 1 } }
  none: { plugin: ./look.plugin, with: { value: "${best(silent, final).final}" } }
  after: { plugin: ./look.plugin, with: { value: 7 } }
R
ok orch run missing.recipe first
fails 1 orch run missing.recipe --executor slurm
says 'submitted 2 trials as Slurm job 101'
says 'use n=1 was not submitted: run'
says "has no artifact or result 'final', which \${first.final} needs"
says "none was not submitted: no run of"
says '1 trial was not submitted: it needs the result of a trial that does not run'
says 'submitted 1 trial as Slurm job 102'
play 101
play 102
ok orch ls --where 'seen=2 or seen=7' --json
same "$(json runs.#)" 3
same "$(ls "$(slurm_folder)/../trials" | wc -l)" 0 'folders of trials'
# all that is left has nothing to submit: no job, and the same status
fails 1 orch run missing.recipe --executor slurm --json
same "$(json submitted)/$(json not_run)" 0/3
same "$(json problems.#)" 2
has 'use n=1 was not submitted'
same "$(calls sbatch)" 2 'calls of sbatch'
