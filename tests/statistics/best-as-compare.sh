# 'orch best': separate rankings for different tasks, means over seeds, the sign of the margin, corrected p values, and
# repeats that share one pretrained model.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
cat >job.py <<'P'
import os, sys
lr, shift, seed, base = float(sys.argv[1]), float(sys.argv[2]), int(os.environ["ORCH_REPEAT"]), sys.argv[3]
noise = [0, 0.011, -0.007, 0.004][seed] + 0.001 * ((seed * 7 + int(lr * 100)) % 5)
print("accuracy %.6f" % (0.8 + shift + lr * 0.5 + noise))
print("val_loss %.6f" % (0.5 - lr + noise))
print("class_count", 2 if shift < 0 else 10)
open("model.bin", "w").write("x")
P
cat >job.plugin <<'Y'
plugin: job
version: 1.0.0
command: [python3, job.py, "${lr}", "${shift}", "${base}"]
metrics_from: lines
parameters:
  lr: {type: real, default: 0.1}
  shift: {type: real, default: 0}
  base: {type: path, default: none}
metrics:
  accuracy: {better: max}
  val_loss: {better: min}
  class_count: {}
artifacts:
  model: model.bin
Y
cat >r.recipe <<'R'
format: 1
recipe: r
experiments:
  pretrain: { plugin: ./job.plugin, reuse: any, with: { lr: 0.3 } }
  tune: { plugin: ./job.plugin, reuse: any, with: { base: "${pretrain.model}" }, sweep: { lr: [0.01, 0.1, 0.02] }, repeat: 3 }
  other: { plugin: ./job.plugin, reuse: any, sweep: { lr: [0.01, 0.1, 0.02] }, repeat: 3 }
  easy: { plugin: ./job.plugin, reuse: any, with: { shift: -0.1, lr: 0.5 }, repeat: 2 }
report:
  - { question: 1.1, title: Winner, best: { value: result accuracy, by: lr, experiments: tune } }
  - { question: 1.2, title: Against, compare: { value: result accuracy, by: lr, baseline: "0.01", experiments: other } }
  - { question: 1.3, title: Each at its best, compare: { value: result accuracy, by: experiment, best_of: lr, baseline: tune, experiments: [tune, other] } }
  - { question: 1.4, title: Table, table: { rows: lr, value: result accuracy, experiments: [tune, other] } }
R
git add -A
git commit -qm first
ok orch run r.recipe -q

# each task has a ranking of its own, and the winner of each is named in text and JSON
ok orch best accuracy
has 'experiment tune, class_count 10'
has 'experiment easy, class_count 2'
says 'tasks has a ranking of its own'
has 'note: the 3 repeats share one run of '"'pretrain'"' (parameter '"'base'"'), so their spread does not show'
ok orch best accuracy --experiment tune --json
same "$(json rankings.0.settings.0.by.lr)" 0.1
same "$(json rankings.0.settings.0.n)" 3
same "$(json rankings.0.settings.1.margin.test)" "Tukey's range"
case $out in *'all 3 pairs of 3 settings'*) ;; *) _fail 'no family in JSON' ;; esac
# --across and --by put tasks together
ok orch best accuracy --across
has_not 'experiment easy,'
has 'best: pretrain lr=0.3'
ok orch best accuracy --by experiment -w 'experiment = tune or experiment = other'
says_not 'apart'
has '3 seeds, 9 runs averaged to one value per seed' # three rates a seed
# six runs of three seeds are three numbers
ok orch best accuracy --by lr --across -w 'experiment = tune or experiment = other' --json
same "$(json rankings.0.settings.0.n)" 3
same "$(json rankings.0.settings.1.margin.paired)" true
# less is better: the margin is positive and lies in its interval
ok orch best val_loss --experiment other --json
printf '%s' "$out" | python3 -c '
import json, sys
r = json.load(sys.stdin)["rankings"][0]
assert [s["by"]["lr"] for s in r["settings"]][0] == "0.1", r
for s in r["settings"][1:]:
    m = s["margin"]
    assert 0 < m["low"] < m["better_by"] < m["high"], m
    assert m["p"] <= m["p_corrected"], m
' || _fail 'margins of --min'
ok orch best val_loss --experiment other
has 'ahead of lr=0.02 by 0.0'

# the report says the family, n and the test
ok orch report r.recipe
has "corrected for all 3 pairs of 3 settings by Tukey's range test"
has "Test: Tukey's range test of 3 and 3 repeats, p "
has "p and the intervals are corrected for 2 comparisons with the baseline (Bonferroni)"
has "p and the intervals are corrected for 9 pairs (Bonferroni): 1 comparison with tune, and choosing the best lr for each of them"
has 'runs with the same seed count as one, by their mean'
has 'share one run of '"'pretrain'"
ok orch report r.recipe --json
printf '%s' "$out" | python3 -c '
import json, sys
table = [b["rows"] for b in json.load(sys.stdin)["sections"][3]["blocks"] if b["kind"] == "table"][0]
spread = table[0]["accuracy_spread"]
assert spread["n"] == 3 and spread["form"] == "runs" and spread["low"] < spread["high"], spread
' || _fail 'spread in JSON'

# compare: runs of one seed are averaged, a shared base is said
ok orch compare 'lr = 0.1 and experiment != easy' 'lr = 0.02' -m accuracy --across --json
same "$(json metrics.0.a.n)" 3
same "$(json metrics.0.averaged)" 6
same "$(json correction)" none
ok orch compare tune other -m accuracy
says 'A: the 3 repeats share one run of'
