# Repeats of points: a goal is reached by all repeats of a point, an interrupted search takes points of which some repeats are
# there, and only failures of the same trial count.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
cat >model.py <<'P'
import json, os, pathlib, sys
home = pathlib.Path(os.environ['HOME'])
width, seed = json.loads(os.environ['ORCH_PARAMS'])['width'], os.environ['ORCH_SEED']
first = home / 'first-seed'
if not first.exists():
    first.write_text(seed)
is_first = first.read_text() == seed
if is_first and (home / 'first-fails').exists():
    sys.exit('the first repeat fails')
if width > 0.5 and not (home / 'mended').exists():
    sys.exit('too wide')
print(f"loss={width if is_first or (home / 'steady').exists() else 10}")
P
cat >model.plugin <<'P'
plugin: model
version: 1.0.0
about: a loss in closed form
metrics_from: lines
command: [python3, model.py]
parameters:
  width: { type: real, min: 0, max: 1, default: 0.5 }
metrics:
  loss: { better: min }
P
recipe() { # recipe OBJECTIVE REPEAT
    cat >s.recipe <<R
format: 1
recipe: s
experiments:
  tune:
    plugin: model
    search:
      width: uniform(0, 1)
    objective: { metric: min loss, $1 }
    repeat: $2
R
}
points() { orch ls "$@" --json | python3 -c 'import json, sys
for r in json.load(sys.stdin)["runs"]: print(r["setting"]["width"])' | sort -u; }
touch "$HOME/mended"

# one repeat of a point reaches the goal, the mean of both does not: the search goes on, and tries all points
recipe 'trials: 4, until: 1' 2
git add .
git commit -qm model
ok orch run s.recipe
says_not 'not needed'
ok orch ls --json
same "$(json runs.#)" 8
# both do: nothing else is tried
touch "$HOME/steady"
ok orch run s.recipe --db steady.db
says '6 not needed'
ok orch ls --db steady.db --json
same "$(json runs.#)" 2

# the other repeats of the point that reaches it come first, and those of worse points are not needed, either
recipe 'trials: 6, until: 0.2' 3
ok orch run s.recipe --db first.db
has_no_more=$(grep -c ' ok  tune' <<<"$err")
ok orch ls --db first.db --json --where 'repeat = 3'
same "$(json runs.#)" 1 'points with all repeats'
ok orch ls --db first.db --json
same "$(json runs.#)" "$has_no_more"
same "$(points --db first.db --where 'repeat = 2')" "$(points --db first.db --where 'repeat = 3')" 'the point with further repeats'

# what needs the best of all points takes it from those that were tried
recipe 'trials: 6, until: 0.2' 2
cat >>s.recipe <<'R'
  final:
    plugin: model
    with: { width: "${best(tune, loss).loss}" }
    repeat: 2
R
ok orch run s.recipe --db final.db
says '10 not needed'
ok orch ls --db final.db --json --where 'experiment = final'
same "$(json runs.#)" 2
ok orch run s.recipe --db final.db
says '4 done before, 10 not needed'

# the first repeats fail; the points of the others stay those of the search
touch "$HOME/first-fails"
recipe 'trials: 4' 2
fails 1 orch run s.recipe --db half.db --keep-going
before=$(points --db half.db)
same "$(wc -l <<<"$before")" 4
rm "$HOME/first-fails"
ok orch run s.recipe --db half.db
says '4 done before'
same "$before" "$(points --db half.db)" 'points'
ok orch ls --db half.db --json --where 'state = ok'
same "$(json runs.#)" 8

# failures of an earlier version say nothing of this one: the same seed gives the same points
rm "$HOME/mended"
recipe 'trials: 6, sampler: random' 1
fails 1 orch run s.recipe --db failures.db --keep-going
before=$(points --db failures.db)
same "$(wc -l <<<"$before")" 6
touch "$HOME/mended"
echo 'print("version 2")' >>model.py
ok orch run s.recipe --db failures.db
same "$before" "$(points --db failures.db)" 'points of the mended version'
# those of this version do: other points are tried instead
rm "$HOME/mended"
recipe 'trials: 12, sampler: random' 1
fails 1 orch run s.recipe --db again.db --keep-going
failed=$(points --db again.db --where 'state = failed' | wc -l)
[ "$failed" -ge 1 ] || _fail 'some trials fail'
_run orch run s.recipe --db again.db --keep-going
same "$(points --db again.db | wc -l)" $((12 + failed)) 'points'
