#!/usr/bin/env bash
# The report item 'commits': a metric over commits, with the commits at which it changed, up and down, in each setting.
# test: slow
. "$ORCH_SOURCE_DIR/tests/cli/lib.sh"
cat >job.py <<'P'
import random, sys
LEVEL = 10
rng = random.Random(f"{LEVEL} {sys.argv[1:]} {open('step.txt').read()}")
print("score", (LEVEL if sys.argv[1] == "a" else 5) + rng.gauss(0, 0.3))
P
cat >r.recipe <<'R'
format: 1
recipe: r
experiments:
  mine:
    program: python3 job.py ${mode} ${seed}
    inputs: [step.txt]
    sweep: { mode: [a, b] }
    repeat: 3
report:
  - { title: Over commits, commits: { value: last score, experiments: mine } }
R
ok orch report r.recipe
has "no run was made of the current commit or one before it"
for step in 1 2 3 4 5 6 7 8 9; do
    case $step in
        4) sed -i 's/^LEVEL = .*/LEVEL = 20/' job.py ;;
        7) sed -i 's/^LEVEL = .*/LEVEL = 14/' job.py ;;
    esac
    echo $step >step.txt
    git add -A
    git commit -qm "step $step"
    [ $step = 5 ] || ok orch run r.recipe -q
done
ok orch report r.recipe --json
python3 - "$SCRATCH/out" <<'P' || _fail 'the change points'
import json, subprocess, sys
section = json.load(open(sys.argv[1]))["sections"][0]
table = next(b for b in section["blocks"] if b["kind"] == "table")
rows = table["rows"]
assert len(rows) == 2, rows
log = subprocess.run(["git", "log", "--format=%H %s"], capture_output=True, text=True).stdout.split("\n")
commits = dict(reversed(line.split(" ", 1)) for line in log if line)
assert [r["commit"] for r in rows] == [commits["step 4"], commits["step 7"]], rows
assert all("mode=a" in r["setting"] or "a" == r["setting"].split()[-1] for r in rows), rows
up, down = rows
numbers = lambda row: [v for v in row.values() if isinstance(v, float)]
assert any(abs(v - 10) < 1 for v in numbers(up)) and any(abs(v - 20) < 1 for v in numbers(up)), up
assert any(abs(v - 14) < 1 for v in numbers(down)), down
assert all(v > 0.9 for r in rows for k, v in r.items() if k.startswith("p_") or k.startswith("P")), rows
P
# runs of uncommitted files are no commit's
echo 99 >step.txt
ok orch run r.recipe -q
ok orch report r.recipe
has "Left out: 6 runs with uncommitted files"
git checkout -q step.txt
# the history is not in a pack: not checked, and no difference
ok orch pack r.recipe r.orch
ok orch verify r.orch
has "history of the commits"
ok orch report r.recipe -o page
for said in 'step 4' 'step 7' 'P(this commit)' 'score changed at 2 of 9 commits'; do
    grep -qF "$said" page/index.html || _fail "the page does not say '$said'"
done
grep -q 'commits after the first one with runs' page/*.svg page/index.html || _fail 'the page has no chart of the commits'
# the served page has it, too, whose reports are quick
ok orch report r.recipe --quick
has "score changed at 2 of 9 commits"
# a recipe of the tree has the item
cp "$SOURCE/recipes/kernels.recipe" .
git add -A
git commit -qm kernels
ok orch run kernels.recipe -q -s time_limit=0.1s -s rows=64 -s columns=64
ok orch report kernels.recipe
has "kernel_time changed at 0 of 1 commits"
