# SPDX-License-Identifier: GPL-3.0-or-later
# Sourced by the tests of runs with hostile content: a program job.sh with its plugin, and r.recipe, which shows its runs in a table,
# a plot and a best setting.
cat >job.sh <<'S'
for i in 1 2 3; do echo "step=$i accuracy=0.$i"; done
echo final 0.5
echo hello >out.txt
S
cat >job.plugin <<'Y'
plugin: job
version: 1.0.0
command: [sh, job.sh]
metrics_from: lines
parameters:
  lr: {type: real, default: 0.1}
  note: {type: string, default: x}
metrics:
  accuracy: {better: max, step: epoch}
  final: {better: max}
artifacts:
  out: out.txt
Y
cat >r.recipe <<'R'
format: 1
recipe: r
experiments:
  tune: { plugin: ./job.plugin, reuse: any, inputs: [job.sh], sweep: { lr: [0.01, 0.1] } }
report:
  - { question: 1.1, title: Final, table: { rows: lr, columns: note, value: [result final, best accuracy] } }
  - { question: 1.2, title: By epoch, plot: { x: epoch, y: accuracy, by: lr } }
  - { question: 1.3, title: Best, best: { value: result final, by: [experiment, lr] } }
R
