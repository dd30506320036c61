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
# an answer of the recipe's own comes first, and a fact whose date has passed says so
sed 's/, rows: .*/, answer: "The TX1 is faster.", rows: ["TX1 | 104.4 until 2020-01 | a", "TX2 | 90 until 2020-01-31, until 2999-01-31 | b"] } }/' f.recipe >dated.recipe
ok orch report dated.recipe --json
python3 - "$SCRATCH/out" <<'P' || _fail 'the answer and the dates'
import json, sys
blocks = json.load(open(sys.argv[1]))["sections"][0]["blocks"]
assert (blocks[0]["kind"], blocks[0]["text"]) == ("answer", "The TX1 is faster."), blocks[0]
notes = [b["text"] for b in blocks if b["kind"] == "note"]
assert notes == ["these facts may be out of date; look them up again: TX1 (2020-01), TX2 (2020-01-31)"], notes
P
sed 's/ | Lu et al., table 6//' f.recipe >bad.recipe
fails 2 orch check bad.recipe
says "row 1 of 'rows' has 2 cells, but 'columns' has 3 names"
says "separate the cells by ' | '"
says 'bad.recipe:5'
