# Wrapped programs: the manifest, metrics, artifacts, failures, and edits during a sweep.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
mkdir exp
cat >exp/count.py <<'P'
import os, sys, time
while sys.argv[1] == "2" and not os.path.exists(os.environ["HOME"] + "/edited"):
    time.sleep(0.05)
import helper
for i in range(int(sys.argv[1])):
    print("value", i * helper.FACTOR)
P
echo 'FACTOR = 2' >exp/helper.py
cat >exp/count.plugin <<'Y'
plugin: count
version: 1.0.0
about: counts
command: [python3, count.py, "${n}"]
metrics_from: lines
parameters:
  n: {type: int, default: 3, min: 1, max: 100, help: how far}
metrics:
  value: {better: max, step: step, help: what was counted}
Y
cat >count.recipe <<'R'
format: 1
recipe: count
experiments:
  count: { plugin: exp/count.plugin, sweep: { n: [2, 3, 4] } }
R
git add -A
git commit -qm first
# an edit while the sweep runs changes nothing
orch run count.recipe >o 2>e &
pid=$!
until_true begun
echo 'FACTOR = 1000' >exp/helper.py
touch "$HOME/edited"
wait $pid
same $? 0 'the exit status'
ok orch best value --max
has 'n=4'
has '6'
has_not 1000
# the edit makes them stale, taking it back makes them done again; README does not
ok orch plan count.recipe
has stale
has helper.py
git checkout -q exp/helper.py
echo x >README.md
ok orch plan count.recipe --json
same "$(json left)" 0
fails 2 orch check count.recipe -x n=0
says minimum
# in folders apart, what a trial writes over is its own: neither the user's file nor that of another trial
cat >exp/over.py <<'P'
import os, sys, time
open("table.txt", "a").write(sys.argv[1] + "\n")
open("sub/deep.txt", "a").write(sys.argv[1] + "\n")
open(os.environ["HOME"] + "/wrote" + sys.argv[1], "w")
while not all(os.path.exists(os.environ["HOME"] + "/wrote" + n) for n in "234"):  # all three are there
    time.sleep(0.05)
print("lines", len(open("table.txt").readlines()) + len(open("sub/deep.txt").readlines()))
P
mkdir -p exp/sub
echo head >exp/table.txt
echo head >exp/sub/deep.txt
sed 's/^plugin: .*/plugin: over/; s/count.py/over.py/; s/value:/lines:/' exp/count.plugin >exp/over.plugin
printf 'format: 1\nrecipe: over\nexperiments:\n  over: { plugin: exp/over.plugin, sweep: { n: [2, 3, 4] } }\n' >over.recipe
ok orch run over.recipe -j 3 --frozen
says '3 ok'
same "$(cat exp/table.txt exp/sub/deep.txt)" "$(printf 'head\nhead')" 'the user files'
ok orch ls -m lines --recipe over --json
same "$(json runs.0.lines) $(json runs.1.lines) $(json runs.2.lines)" '4.0 4.0 4.0'
