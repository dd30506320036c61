#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Two questions may compare the same two settings among others: when their verdicts differ, the item 'best' says so. Settings
# that scatter much do not hide the difference of two that scatter little.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
cat >job.sh <<'S'
# level and scatter of each setting; each seed has its own place in them
awk -v of="$1" -v k="$2" -v seed="$3" 'BEGIN {
    split("-0.012 0.004 0.009 -0.001 0.012 -0.006 -0.009 0.003 0.011 0.002 -0.010 -0.003", noise, " ")
    e = noise[(seed * (k + 1) + 3 * k) % 12 + 1]
    level = of == "few" ? (k == 1 ? 0.823 : k == 2 ? 0.800 : 0.700) : 0.5 + k / 100
    print "accuracy", level + (of == "wild" ? 20 : 1) * e }'
S
cat >job.plugin <<'P'
plugin: job
command: [sh, job.sh, "${of}", "${k}", "${seed}"]
parameters: { of: { type: string, default: few }, k: { type: int, default: 1 } }
metrics: { accuracy: { better: max } }
P
cat >r.recipe <<'R'
format: 1
recipe: r
experiments:
  few: { plugin: ./job.plugin, with: { of: few }, sweep: { k: [1, 2, 3] }, repeat: 4 }
  like: { plugin: ./job.plugin, with: { of: like }, sweep: { k: [1, 2, 3, 4, 5, 6, 7, 8, 9] }, repeat: 4 }
  wild: { plugin: ./job.plugin, with: { of: wild }, sweep: { k: [1, 2] }, repeat: 4 }
report:
  - { question: "1", title: Among few, best: { value: accuracy, by: k, experiments: [few] } }
  - { question: "2", title: Among many, best: { value: accuracy, by: [experiment, k], experiments: [few, like] } }
  - { question: "3", title: Beside wild ones, best: { value: accuracy, by: [experiment, k], experiments: [few, wild] } }
R
ok orch run r.recipe -y
ok orch report r.recipe
has 'Best of 3 settings: k 1. Its accuracy is '
has 'settings: few with k 1. Its accuracy is '
has 'It is clearly better than '
has 'It is not clearly better than '
has 'Question 3 compares the same two settings among 5 settings, not 3. There the difference is not more than noise (p 0.0'
has 'Question 1 compares the same two settings among 3 settings, not 5. There the difference is more than noise (p 0.0'
same "$(grep -c 'compares the same two settings' "$SCRATCH/out")" 3 'questions that say so'
# a quiet setting is not judged by the scatter of noisy ones, whose seeds go up and down together
cat >job.sh <<'S'
awk -v of="$1" -v k="$2" -v seed="$3" 'BEGIN {
    split(of == "wild" ? "0.300 0.750 0.420 0.610" : "0.800 0.812 0.806 0.809", values, " ")
    quiet = of == "wild" ? 0 : 0.04 * (k == 2) - 0.1 * (k == 3)
    print "accuracy", values[seed % 4 + 1] + quiet - (of == "wild" ? 0.1 * k : 0.001 * ((seed * k) % 3)) }'
S
git commit -qam quiet
ok orch run r.recipe -y few wild
ok orch report r.recipe
has 'Best of 3 settings: k 2. Its accuracy is '
has 'settings: few with k 2. Its accuracy is '
exit 0
