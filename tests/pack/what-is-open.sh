# Messages about something incomplete contain the next command: an incomplete hand-in, a winner of one setting, a
# missing forecast, an unknown metric, and what a push would send.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
cat >hw.recipe <<'R'
format: 1
recipe: hw
experiments:
  nap: { plugin: ./m.plugin, sweep: { seconds: [1, 2, 3, 4, 5, 6, 7, 8] }, repeat: 3 }
report:
  - { question: 1.1, points: 2, title: Times, plot: { x: seconds, y: score } }
  - { question: 1.2, points: 2, title: Which, best: { value: score, by: seconds } }
  - { question: 1.3, points: 2, title: Table, table: { rows: seconds, value: score } }
  - { question: 1.3, title: Why, student: Why? }
R
printf 'plugin: m\nversion: 1.0.0\nabout: prints a score\ncommand: [sh, "-c", "echo score ${seconds}"]\nmetrics_from: lines\nparameters: { seconds: { type: int } }\nmetrics: { score: { better: max } }\n' >m.plugin
git add -A
git commit -qm first
ok orch init -q 2>/dev/null || true
# a first plan says why it has no forecast; later ones have one
ok orch plan hw.recipe
says 'forecast: none, because nothing like these trials has been measured here'
says "'orch pull'"
# the hand-in is written, says what is open on lines that fit, and how to get it; its status is its own
fails 8 orch submit hw.recipe --netid ab1 --out in
has 'not complete:'
has 'orch run hw.recipe nap    # 1.1, 1.2, 1.3'
[ -s in/ab1_hw.zip ] || _fail 'no ZIP'
width=$(awk '{ if (length > n) n = length } END { print n }' <<<"$out")
[ "$width" -le 100 ] || _fail "a line of $width characters"
fails 8 orch submit hw.recipe --netid ab1 --out in --json
same "$(json missing.0.get_it_with)" 'orch run hw.recipe nap'
ok orch run hw.recipe --no-progress
fails 8 orch submit hw.recipe --netid ab1 --out in
has 'still empty: 1.3'
has_not 'not complete:'
python3 - <<'P'
import json
book = json.load(open("in/hw_p1.ipynb"))
for cell in book["cells"]:
    if "".join(cell["source"]).strip() == "" or "answer" in cell.get("id", "") and cell["cell_type"] == "markdown":
        cell["source"] = ["Because."]
json.dump(book, open("in/hw_p1.ipynb", "w"))
P
ok orch submit hw.recipe --netid ab1 --out in
has 'none of your cells is empty'
# one candidate is no winner
ok orch report hw.recipe --only 1.2 --db one.db
ok orch run hw.recipe --part 1/24 --db one.db
ok orch report hw.recipe --only 1.2 --db one.db
has 'No winner yet: only 1 second has a number'
has 'from 1 of 3 trials'
has_not ', 1 of 3 trials'
# the hint of an unknown metric names what every run has
fails 2 orch best nosuch --max
says "runs have 'score'"
says "every run has 'wall_s'"
fails 2 orch best wal_s --min
says "did you mean 'wall_s'?"
ok orch best wall_s --min --by seconds
# what a push would send is named as 'ls' names it
git init -q --bare ../hub.git
git remote add origin ../hub.git
git push -q origin main
ok orch push --dry-run
has "$(orch ls -n 1 --json | "$BUILD/json_get" runs.0.key | tail -c 9) ok hw nap seconds=8"
has 'tester, '
ok orch push --dry-run --json
json items >o
grep -q '"run": "' o || _fail 'no run is named'
ok env PYTHONPATH="$SOURCE/share/python" python3 -c 'import orch; run = orch.start(lr=0.1); run.log(loss=1); run.end()'
says 'recorded by orch'
