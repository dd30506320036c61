# The sweep of the README, 3 x 3 settings with 3 repeats: its differences are found, and 'orch best' and the report
# agree and name the method.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
cat >job.py <<'P'
import random, sys
lr, width, seed = float(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
random.seed("%s %s %s" % (lr, width, seed % 1000))
mean = {0.001: 0.70, 0.01: 0.82, 0.1: 0.90}[lr] + {1: 0, 2: 0.03, 4: 0.06}[width]
print("accuracy %.4f" % (mean + random.uniform(-0.015, 0.015)))
P
cat >job.plugin <<'Y'
plugin: job
version: 1.0.0
command: [python3, job.py, "${lr}", "${width}", "${seed}"]
metrics_from: lines
parameters:
  lr: {type: real, default: 0.1}
  width: {type: int, default: 1}
metrics:
  accuracy: {better: max}
Y
cat >r.recipe <<'R'
format: 1
recipe: r
experiments:
  e: { plugin: ./job.plugin, reuse: any, sweep: { lr: [0.001, 0.01, 0.1], width: [1, 2, 4] }, repeat: 3 }
report:
  - { title: Winner, best: { value: result accuracy, by: [lr, width] } }
R
git add -A
git commit -qm first
ok orch run r.recipe -q
ok orch best accuracy
has ", corrected for all 36 pairs of 9 settings by Tukey's range test"
has "The noise (the spread of the repeats) is estimated from "
has 'arcsin(sqrt(share))'
ok orch best accuracy --json
same "$(json rankings.0.settings.0.by.lr)" 0.1
test "$(json rankings.0.worse)" -ge 5 || _fail "only $(json rankings.0.worse) differences found"
worse=$(json rankings.0.worse)
ok orch report r.recipe
has "p is corrected for all 36 pairs of 9 settings by Tukey's range test"
has "$worse of 8 other settings are clearly worse"
