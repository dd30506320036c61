# A trial that goes on from a checkpoint of an earlier command is told of with the run that had written it, and each run
# records whose file it read and wrote. An attempt that was cut off left its own checkpoint on purpose.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
[ -e "$BUILD/orch-watch.so" ] || skip 'no orch-watch.so'
cat >t.py <<'P'
import os, sys
last = sys.argv[2] + "/last.txt"
os.makedirs(sys.argv[2], exist_ok=True)
start = int(open(last).read()) if os.path.exists(last) else 0
open(last, "w").write(str(start + 1))
if len(sys.argv) > 3 and start == 0:
    sys.exit(1)
print("acc", start)
P
printf 'runs\n.orch\n' >.gitignore
git add -A
git commit -qm one
short() { local key && key=$(orch ls --json | "$BUILD/json_get" "runs.$1.key") && echo "${key: -8}"; }
ok orch try -x k=1 -- python3 t.py '{k}' runs
says_not 'had written'
one=$(short 0)
ok orch show @last
has_not 'went on from'
ok orch try -x k=2,3 -- python3 t.py '{k}' runs
says "run $(short 1) may have continued from 'runs/last.txt', which run $one of an earlier command had written"
same "$(grep -c 'had written' <<<"$err")" 1 'it is told once'
ok orch show "$(short 1)"
has "went on from   runs/last.txt, which run $one had written"
ok orch show @last
has "went on from   runs/last.txt, which run $(short 1) had written"
# the same trial again goes on from its finished run
ok orch try --force -x k=3 -- python3 t.py '{k}' runs
says "which run $(short 1) of an earlier command had written"
# a trial that failed goes on from its own checkpoint
fails 1 orch try -x k=7 -- python3 t.py '{k}' 'runs/{k}' fail
ok orch try -x k=7 -- python3 t.py '{k}' 'runs/{k}' fail
says_not 'had written'
ok orch show @last --json
same "$(of_json 'it["facts"].get("carried")')" null
# a file that was written by hand since is nobody's
ok orch try -x k=8 -- python3 t.py '{k}' runs
says 'of an earlier command had written'
sleep 0.05
echo 5 >runs/last.txt
ok orch try -x k=9 -- python3 t.py '{k}' runs
says_not 'had written'
# and so is one of another clone, whose runs are in the same store
git clone -q . "$SCRATCH/clone"
mkdir "$SCRATCH/clone/runs"
echo 5 >"$SCRATCH/clone/runs/last.txt"
touch -d 2020-01-01 "$SCRATCH/clone/runs/last.txt"
ok orch -C "$SCRATCH/clone" --db "$PWD/.orch/results.db" try -x k=10 -- python3 t.py '{k}' runs
says_not 'had written'
ok orch -C "$SCRATCH/clone" --db "$PWD/.orch/results.db" try -x k=11 -- python3 t.py '{k}' runs
says 'of an earlier command had written'
# many files: at most 50 are recorded
cat >many.py <<'P'
import os, sys
for i in range(60):
    name = f"runs/f{i}"
    if os.path.exists(name):
        open(name).read()
    open(name, "w").write(sys.argv[1])
print("acc", 1)
P
git add -A
git commit -qm many
ok orch try -x k=1,2 -- python3 many.py '{k}'
ok orch show @last --json
same "$(of_json 'len(it["facts"]["carried"])')" 50 'files that are recorded'
