# A trial that goes on from a checkpoint which another trial of the sweep has left is told of, in the user's folder and
# where a folder apart links to it. '--frozen' is no way out for a file that git ignores.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
[ -e "$BUILD/orch-watch.so" ] || skip 'no orch-watch.so'
cat >t.py <<'P'
import os, sys
last = sys.argv[2] + "/last.txt"
os.makedirs(sys.argv[2], exist_ok=True)
start = int(open(last).read()) if os.path.exists(last) else 0
print("acc", start)
open(last, "w").write(str(start + 1))
open(sys.argv[2] + "/log.csv", "a").write("x\n")
P
echo runs >.gitignore
git add -A
git commit -qm one
ok orch try -x k=1,2,3 -- python3 t.py '{k}' runs
first=$(orch ls --json | "$BUILD/json_get" runs.2.key)
second=$(orch ls --json | "$BUILD/json_get" runs.1.key)
says "run ${second: -8} may have continued from 'runs/last.txt', which another trial of this sweep (t k=1, run ${first: -8}) had written"
same "$(grep -c 'had written' <<<"$err")" 1
says "was written by more than one trial of this sweep"
ok orch try --force --frozen -x k=1,2,3 -- python3 t.py '{k}' runs
says "may have continued from 'runs/last.txt', which run "
says 'of an earlier command had written'
ok orch show @last
has 'went on from   runs/last.txt'
# a file of each trial, a log that is only appended to, and a copy of each trial are nobody's state
ok orch try -x k=4,5,6 -- python3 t.py '{k}' 'runs/{k}'
says_not 'had written'
printf 'import sys\nopen("runs/all.csv", "a").write(sys.argv[1])\nprint("acc", 1)\n' >a.py
ok orch try -x k=1,2,3 -- python3 a.py '{k}'
says_not 'had written'
mkdir out
echo 7 >out/last.txt
git add -A
git commit -qm two
ok orch try --frozen -x k=1,2,3 -- python3 t.py '{k}' out
says_not 'had written'
ok orch try --force -x k=1,2,3 -- python3 t.py '{k}' out
says "may have continued from 'out/last.txt', which another trial"
