# In a table of one metric by two aggregates, each column names its aggregate in text and JSON. A single aggregate keeps
# the metric's plain name. So do sentences: `best` names its value's aggregate and unit. Shares of time have no "s/s", millions no "(million)".
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
cat >steps.plugin <<'Y'
command: [sh, steps.sh]
metrics_from: lines
metrics: { load: { unit: MB, step: second, better: min }, rate: { unit: images/s }, busy: { unit: s/s }, millions: { unit: million } }
Y
printf '%s\n' 'for v in 1 2 6; do echo "{\"load\": $v, \"step\": $v}"; done; echo "{\"rate\": 5, \"busy\": 0.25, \"millions\": 7}"' >steps.sh
cat >t.recipe <<'R'
format: 1
recipe: t
experiments: { a: { plugin: ./steps.plugin }, b: { plugin: ./steps.plugin }, c: { plugin: ./steps.plugin } }
report:
  - { title: T, table: { rows: experiment, value: [mean load, max load, last rate], experiments: a } }
  - { title: B, best: { value: mean load, by: experiment } }
  - { title: P, plot: { x: second, y: load, experiments: a } }
  - { title: S, table: { rows: experiment, value: [busy, millions], experiments: a } }
R
ok orch run t.recipe -q
ok orch report t.recipe
has 'mean load (MB)'
has 'highest load (MB)'
has_not 'last rate'
has 'Its mean load is 3 MB, the same as that of b'
has 'mean load (MB)  repeats  the best is better by'
has '  Busy: 0.2500 for a.'
has '  Millions: 7'
has_not '(s/s)'
has_not '(million)'
has 'Load rises from 1 MB at time 1 second to 6 MB at time 6 seconds'
has_not ' -0 '
ok orch report t.recipe --json
python3 - "$SCRATCH/out" <<'P' || _fail 'the columns'
import json, sys
section = json.load(open(sys.argv[1]))["sections"][0]
row, = [block["rows"] for block in section["blocks"] if "rows" in block][0]
assert {k: v for k, v in row.items() if "load" in k} == {"mean_load_(mb)": 3, "max_load_(mb)": 6}, row
P
ok orch table --rows experiment --value 'min load' --value 'max load'
has 'lowest load (MB)'
has 'highest load (MB)'
exit 0
