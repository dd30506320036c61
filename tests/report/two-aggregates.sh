# In a table of one metric by two aggregates, each column names its aggregate in text and JSON. A single aggregate keeps
# the metric's plain name.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
cat >steps.plugin <<'Y'
command: [sh, steps.sh]
metrics_from: lines
metrics: { load: { unit: MB, step: second }, rate: { unit: images/s } }
Y
printf '%s\n' 'for v in 1 2 6; do echo "{\"load\": $v, \"step\": $v}"; done; echo "rate 5"' >steps.sh
cat >t.recipe <<'R'
format: 1
recipe: t
experiments: { a: { plugin: ./steps.plugin } }
report:
  - { title: T, table: { rows: experiment, value: [mean load, max load, last rate] } }
R
ok orch run t.recipe -q
ok orch report t.recipe
has 'mean load (MB)'
has 'highest load (MB)'
has_not 'last rate'
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
