# SPDX-License-Identifier: GPL-3.0-or-later
# Sourced after tests/cli/lib.sh: a recipe of trainings whose time follows a law, enough of them for a predictor.

# fake_training NET INPUT SLOPE: writes f.recipe and fake.plugin; a step takes 4 ms and SLOPE s for each image
fake_training() {
    sed "s/SLOPE/$3/; s/NET/$1/; s/INPUT/$2/" >fake.plugin <<'Y'
plugin: fake
version: 1.0.0
about: a training whose time follows a law
command: [sh, "-c", "for i in 1 2 3; do awk -v b=${batch} -v r=${jitter} 'BEGIN {printf \"step_time %.9f\\n\", (0.004 + b * SLOPE) * r}'; done"]
metrics_from: lines
parameters:
  batch: {type: int, default: 16, help: images}
  jitter: {type: real, default: 1.0, help: factor}
metrics:
  step_time: {unit: s, better: min, step: step, help: time}
cost: {network: NET, precision: fp32, framework: "none 1", input: INPUT, classes: "10", images: "1000", batch: "${batch}", workers: "1", epochs: "1", training: "true"}
Y
    cat >f.recipe <<'Y'
format: 1
recipe: f
experiments:
  f: { plugin: ./fake.plugin, sweep: { batch: [8, 12, 16, 32, 48, 64, 96], jitter: [0.99, 1.01] } }
Y
}
