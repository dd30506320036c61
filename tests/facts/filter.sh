# The report item 'facts' is a table of the recipe's own: cells separated by ' | ', a row without a cell for each column is refused.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
cat >f.recipe <<'R'
format: 1
recipe: f
experiments: { nap: { plugin: sleep, with: { seconds: 0.01 } } }
report:
  - { question: "1", title: Published, points: 2, facts: { columns: [device, "time (ms)", source], rows: ["TX1 | 104.4 | Lu et al., table 6", "a|b | 149.4 | -"] } }
R
ok orch report f.recipe --json
python3 - "$SCRATCH/out" <<'P' || _fail 'the table'
import json, sys
section = json.load(open(sys.argv[1]))["sections"][0]
assert section["state"] == "complete" and section["kind"] == "facts", section
shown = section["blocks"][0]["shown"]
assert shown["headers"] == ["device", "time (ms)", "source"], shown
assert shown["cells"] == [["TX1", "104.4", "Lu et al., table 6"], ["a|b", "149.4", "-"]], shown
P
sed 's/ | Lu et al., table 6//' f.recipe >bad.recipe
fails 2 orch check bad.recipe
says 'row 1 has 2 cells for 3 columns'
says "separate the cells by ' | '"
says 'bad.recipe:5'
