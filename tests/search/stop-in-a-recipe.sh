# 'stop' of an objective: errors with their column, summaries other than the last value, a metric that has one value a
# trial, what the plan and a report say of pruned trials, and best() over them.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
cat >train.py <<'P'
import json, os, sys, time
width = json.loads(os.environ['ORCH_PARAMS'])['width']
# by the best value width 3 is the best: it has 0.1 in its first epoch, and the largest last value
for epoch in range(1, 4):
    loss = 0.1 if width == 3 and epoch == 1 else width + 1 / epoch
    print(f"epoch {epoch}/3 loss {loss:.4f}", flush=True)
    if epoch == 2 and width == 2:
        time.sleep(60)
        sys.exit('nobody stopped it')
print(f"final {width}")
P
cat >curve.plugin <<'P'
plugin: curve
version: 1.0.0
about: a curve in closed form
metrics_from: lines
command: [python3, train.py]
parameters:
  width: { type: int, min: 1, max: 3, default: 1 }
  start: { type: real, default: 0 }
metrics:
  loss: { better: min, step: epoch }
  final: { better: min }
P
# ---- errors
at() { # at COLUMN WHAT STOP
    cat >wrong.recipe <<R
format: 1
recipe: wrong
experiments:
  tune:
    plugin: curve
    search:
      width: int(1, 3)
    objective:
      metric: min loss
      stop: $3
R
    fails 2 orch check wrong.recipe
    says "'stop': $2"
    says "wrong.recipe:10:$1"
}
at 13 "'meadian' is no rule that stops trials" meadian
at 18 "asha has no argument 'factr'" 'asha(factr=3)'
at 26 "'factor': 1 is not between 2 and 1e+09" '"asha(factor=1, min=2)"' # a quote is a column
at 31 "'p': expected a number, found 'small'" 'forecast(top=2, p=small)'
fails 2 orch try -x 'width=int(1,3)' --search 'min loss' --stop 'asha(factor=1)' -- python3 train.py {width}
says "'factor': 1 is not between 2 and 1e+09"
fails 2 orch try -s width=1 --stop 'asha' -- python3 train.py {width}
says 'a search needs a metric to optimise'

# ---- the best value counts: width 3 had the best one in its first epoch, and goes on
recipe() { # recipe NAME METRIC
    cat >"$1.recipe" <<R
format: 1
recipe: $1
experiments:
  tune:
    plugin: curve
    search:
      width: int(1, 3)
    objective:
      metric: $2
      trials: 3
      sampler: sobol
      stop: asha(min=2, factor=2)
  after:
    plugin: curve
    with: { start: "\${best(tune, final).final}" }
    search: { width: [1, 3] }
    objective: { metric: min final, trials: 2 }
report:
  - { title: Loss, table: { experiments: tune, rows: width, value: best loss } }
R
}
recipe s 'min best loss'
ok orch run s.recipe tune -j 1
says '2 ok, 1 pruned'
says 'best of 3 settings: tune width=3, best loss 0.1'
ok orch plan s.recipe tune
has 'pruned: 2.5 after 2 values; 1 of 2 trials are better, the best 1 go on'
says '2 done, 1 pruned'
ok orch plan s.recipe tune --json
same "$(json left)" 0
ok orch report s.recipe
has '1 of 3 trials was stopped early by its search (pruned) and has no result'
has_not 'not run'
# what refers to the best trial takes one that ended, and does not wait for the others
ok orch run s.recipe
says '2 done before, 1 pruned before'
# here a search too, a stage that starts from the best trial of the one before
ok orch ls --where 'experiment = after and state = ok' --json
same "$(json runs.#)" 2
# the rule is gone: what it stopped is run to its end
sed -i '/stop:/d' s.recipe
ok orch plan s.recipe tune
says '2 done, 1 missing'

# ---- one value a trial
rm -rf .orch
recipe one 'min final'
sed -i 's/width: int(1, 3)/width: [1, 3]/; s/trials: 3/trials: 2/' one.recipe
ok orch run one.recipe tune -j 1 --json
says "the rule 'stop' could stop no trial by its values of 'final': the trials have only one value each"
same "$(json pruned_before)" 0
