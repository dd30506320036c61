# SPDX-License-Identifier: GPL-3.0-or-later
# An alert that fired in a Slurm job is told by the command that takes the trial in, once, and runs its $ORCH_NOTIFY.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
. "$(dirname "$0")/slurm.sh"
cat >noisy.plugin <<'P'
plugin: noisy
version: 1.0.0
about: prints a loss
licence: MIT
command: [sh, noisy.sh, "${n}"]
metrics_from: lines
parameters:
  n: {type: int, default: 1, help: a number}
metrics:
  loss: {help: the number, better: min}
P
printf 'echo loss 1\necho loss "$1"\n' >noisy.sh
cat >a.recipe <<'R'
format: 1
recipe: a
slurm: { partition: p }
alert: loss > 3 * first
experiments:
  e: { plugin: ./noisy.plugin, sweep: { n: [2, 9] } }
R
ok orch run a.recipe --executor slurm --json
play "$(json arrays.0.job)"
minute
export ORCH_NOTIFY='cat >"$SCRATCH/told.part" && mv "$SCRATCH/told.part" "$SCRATCH/told"' SCRATCH
ok orch collect
says ' (e): loss > 3 * first'
until_true test -s "$SCRATCH/told"
same "$(python3 -c 'import json, sys; told = json.load(open(sys.argv[1])); print(told["recipe"], told["experiment"], told["state"])' "$SCRATCH/told")" 'a e alert'
ok orch ls --where 'tag = alert' --json
same "$(json runs | grep -o '"key"' | wc -l)" 1 'tagged runs'
ok orch collect
says_not 'alert of trial'
