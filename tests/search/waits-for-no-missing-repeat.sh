# The first repeat of a point chooses its values: where that one is no part of the run, or was given up, the next one does.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
cat >base.py <<'P'
import os, pathlib, sys
first = pathlib.Path(os.environ['HOME'], 'was-here')
if not first.exists():
    first.touch()
    sys.exit('the first repeat fails')
print('offset=0.25')
P
cat >base.plugin <<'P'
plugin: base
version: 1.0.0
about: fails once
metrics_from: lines
command: [python3, base.py]
metrics:
  offset: { better: min }
P
cat >model.py <<'P'
import json, os
p = json.loads(os.environ['ORCH_PARAMS'])
print(f"val_loss={abs(p['width'] - 0.4) + (p['offset'] or 0)}")
P
cat >model.plugin <<'P'
plugin: model
version: 1.0.0
about: a loss in closed form
metrics_from: lines
command: [python3, model.py]
parameters:
  offset: { type: real, default: 0 }
  width: { type: real, min: 0, max: 1, default: 0.5 }
metrics:
  val_loss: { better: min }
P
recipe() { # recipe OFFSET
    cat >s.recipe <<R
format: 1
recipe: s
experiments:
  base: { plugin: base, repeat: 2 }
  tune:
    plugin: model
    with: { offset: "$1" }
    search:
      width: uniform(0, 1)
    objective: { metric: min val_loss, trials: 5 }
    repeat: 2
R
}
# the second of two parts has only the second repeats
recipe 0
git add .
git commit -qm model
ok timeout 60 orch run s.recipe tune --part 2/2
says 'best of 5 settings'
ok orch ls --json --where 'experiment = tune and repeat = 2'
same "$(json runs.#)" 5
# two parts of points without repeats are other points, on two machines, too
widths() { orch ls --json --db "$1" | python3 -c 'import json, sys
for r in json.load(sys.stdin)["runs"]: print(r["setting"]["width"])'; }
sed '/^    repeat/d' s.recipe >single.recipe
ok orch run single.recipe tune --part 1/2 --db a.db
ok orch run single.recipe tune --part 2/2 --db b.db
same "$(cat <(widths a.db) <(widths b.db) | sort -u | wc -l)" 5 'points of the parts'
# the trial that the first repeats refer to fails; the second repeats choose, and run
recipe '${base.offset}'
git commit -qam 'from base'
fails 1 timeout 60 orch run s.recipe
says 'it needs ${base.offset}'
says 'best of 5 settings'
ok orch ls --json --where 'experiment = tune and repeat = 2'
same "$(json runs.#)" 10
