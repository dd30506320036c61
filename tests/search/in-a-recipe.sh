# Searches of recipes: conditions, a search for each swept value, repeats, and what is wrong in a recipe.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
cat >model.py <<'P'
import json, os
p = json.loads(os.environ['ORCH_PARAMS'])
off = abs(p['width'] - 40) / 40 + (abs(p['momentum'] - 0.9) if p['opt'] == 'sgd' else 0.3)
print(f"val_loss={off + p['depth'] / 10}")
P
cat >model.plugin <<'P'
plugin: model
version: 1.0.0
about: a loss in closed form
metrics_from: lines
command: [python3, model.py]
parameters:
  opt: { type: string, default: sgd }
  momentum: { type: real, min: 0, max: 1, default: 0.5 }
  width: { type: int, min: 1, default: 8 }
  depth: { type: int, min: 1, default: 1 }
metrics:
  val_loss: { better: min }
P
recipe() { # recipe RANGES OBJECTIVE
    cat >s.recipe <<R
format: 1
recipe: s
experiments:
  tune:
    plugin: model
    sweep: { depth: [1, 2] }
    search:
      opt: [sgd, adam]
      momentum: uniform(0, 1) if opt = sgd
      ${1:-width: int(8, 128, log)}
    objective: ${2:-"{ metric: min val_loss, trials: 6 }"}
    repeat: 2
report:
  - table: { rows: depth, value: last val_loss }
R
}
recipe
git add .
git commit -qm model
ok orch check s.recipe
ok orch plan s.recipe
says '24 trials: 24 waiting'
ok orch run s.recipe
# each of two searches has 6 points, each with 2 repeats
same "$(grep -c 'best of 6 settings' <<<"$err")" 2
ok orch ls --json
same "$(json runs.#)" 24
same "$(orch ls --json --where 'depth = 1' | python3 -c 'import json, sys
runs = json.load(sys.stdin)["runs"]
print(len({json.dumps(r["setting"], sort_keys=True) for r in runs}))')" 6 'points of a search'
# where the condition does not hold, the parameter has its default
ok orch ls --json --where 'opt = adam and momentum != 0.5'
same "$(json runs.#)" 0
ok orch run s.recipe
says 'nothing to run'

# trials of a search are no jobs of a cloud, because their values are not known
recipe '' '{ metric: min val_loss, trials: 9 }'
fails 2 orch export job s.recipe --trial 20 --to k8s
says 'belongs to a search'

# a range that replaces another stays where that was: the condition names an earlier one
recipe
ok orch plan s.recipe -x 'opt=choice(sgd, adam, none)'

# what is wrong is said with its place
refused() { # refused RANGE OBJECTIVE TEXT...
    recipe "$1" "$2"
    shift 2
    fails 2 orch check s.recipe
    for text; do says "$text"; done
}
refused 'width: int(0, 128, log)' '' 'a logarithmic range cannot begin at 0' 's.recipe:10:18'
refused 'width: int(0, 128)' '' "search 'width': parameter 'width' cannot be 0" 's.recipe:10:14'
refused 'width: uniform(1, 128)' '' 'the parameter takes only whole numbers'
refused 'width: int(8, 128' '' "')' is missing"
refused 'width: 8' '' "'8' is no range"
refused 'widht: int(8, 128)' '' "unknown parameter 'widht'" "did you mean 'width'"
refused 'width: int(8, 128) if optimizer = sgd' '' "the condition names 'optimizer', which is no earlier parameter with choices"
refused '' '{ metric: min val_accuracy }' "plugin 'model' reports no 'val_accuracy'" 's.recipe:11'
refused '' '{ metric: lowest val_loss }' "'lowest val_loss' is not an objective"
refused '' '{ metric: min val_loss, sampler: genetic }' sampler
refused '' '{ metric: min val_loss, trials: 0 }' trials
refused '' '{ trials: 6 }' 'a search needs a metric'
sed -i '/objective/d' s.recipe
fails 2 orch check s.recipe
says 'a search needs a metric'

# two commits are compared at the same values, which a search does not have
recipe '' '{ metric: min val_loss, trials: 2 }'
git commit -qam 'two points'
echo '# a comment' >>model.py
git commit -qam 'a comment'
fails 2 orch compare HEAD~1 HEAD --run s.recipe
says "experiment 'tune' of side A"
