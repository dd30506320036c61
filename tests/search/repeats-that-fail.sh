# A point of which a repeat failed, or has no number, has no value: it is not the best, 'until' does not end with it, and what it would
# have been is said. 'orch best', reports and the page name a setting together with its repeats that failed.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
cat >r.py <<'P'
import os, pathlib, sys, time
x, repeat, how = float(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
if x > 0.9 and repeat == 2 and not (pathlib.Path(os.environ['HOME']) / 'mended').exists():
    if how == 'fail':
        sys.exit('out of memory')
    if how == 'crash':
        os.abort()
    if how == 'timeout':
        time.sleep(60)
    print('w 1' if how == 'missing' else 'v nan')
    sys.exit()
print('v', x + repeat / 1000)
P
cat >r.plugin <<'P'
plugin: r
version: 1.0.0
about: a number
metrics_from: lines
command: [python3, r.py, '${x}', '${repeat}', '${how}']
parameters:
  x: { type: real, default: 0.5 }
  how: { type: string, default: fail }
metrics:
  v: { better: max }
P
cat >r.recipe <<'R'
format: 1
recipe: r
experiments:
  tune: { plugin: r, search: { x: [0.2, 0.5, 0.95] }, objective: { metric: max v, trials: 3, until: 0.9 }, repeat: 3 }
  sweep: { plugin: r, with: { how: nan }, sweep: { x: [0.2, 0.95] }, repeat: 3 }
report:
  - { title: Search, search: { experiments: tune } }
  - { title: Best, best: { value: last v, by: x, experiments: sweep } }
  - { title: Table, table: { value: last v, rows: x, experiments: sweep } }
R
git add .
git commit -qm numbers
x='x=choice(0.2,0.5,0.95)'
for how in fail crash timeout nan missing; do
    _run orch try -x "$x" --search 'max v' --repeat 3 --trials 3 --name "$how" --timeout 1 --keep-going -- python3 r.py '{x}' '{repeat}' "$how"
    says "best of 3 settings: $how x=0.5, last v 0.5020 by its 3 trials"
    says "$how: x=0.95 would be best by its other trials (0.952), but has no value: 1 of its 3 trials"
done
# repeats are added where a point may be the best: not to that one
_run orch try -x "$x" --search 'max v' --repeat 'auto(ci=0.001%, max=6)' --trials 3 --name auto --keep-going -- python3 r.py '{x}' '{repeat}' fail
says 'auto x=0.5, last v'
same "$(orch ls -e auto -w 'x = 0.95 and repeat > 3' --json | python3 -c 'import json, sys; print(len(json.load(sys.stdin)["runs"]))')" 0

# 'until' is not reached by a point without a value; nor by the same command again, nor in the report
fails 1 orch run r.recipe --keep-going
says_not 'not needed'
says 'best of 3 settings: tune x=0.5, last v 0.5020 by its 3 trials'
ok orch report r.recipe
has 'Best of 3 settings of tune: x=0.5'
has 'tune: x=0.95 would be best by its other trials (0.952), but has no value: 1 of its 3 trials failed'
has '0.95: 1 of its 3 trials gives no number (its run has none)'
has ', from 2 of 3 trials'

# orch best names what failed, and so does a table
ok orch best v --max -e fail
has 'best: x=0.95'
has 'note: 1 of its 3 runs failed ('
ok orch best v --max -e nan
has 'note: 1 of its 3 runs has no number ('
ok orch best v --max -e missing
has 'note: 1 of its 3 runs has no number ('
ok orch best v --max -e crash --json
same "$(python3 -c 'import json, sys; print(*[len(s["lost"]["failed"]) for s in json.load(open(sys.argv[1]))["rankings"][0]["settings"]])' "$SCRATCH/out")" '1 0 0'
ok orch table --rows x --value v -w 'experiment = fail'
says "not in the table: 1 of these settings' 9 runs failed ("

# the trial that failed runs again, and the point is the best
touch "$HOME/mended"
ok orch run r.recipe
says 'best of 3 settings: tune x=0.95, last v 0.9520 by its 3 trials'
says_not 'would be best'
ok orch report r.recipe
has 'Best of 3 settings of tune: x=0.95'
has_not 'would be best'
ok orch best v --recipe r -e tune
has_not 'note: 1 of its'
