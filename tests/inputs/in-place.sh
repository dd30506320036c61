# A user's program runs as by hand, in the user's folder with all of its files, until an input changes.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
mkdir ../data
echo 0.7 >../data/x
ln -s ../data data
git init -q ../sub
(
    cd ../sub
    echo 'A = 0.5' >m.py
    git add -A
    git commit -qm x
)
git -c protocol.file.allow=always submodule -q add ../sub ext 2>/dev/null
git init -q third
(
    cd third
    echo 'B = 0.25' >n.py
    git add -A
    git commit -qm x
)
truncate -s 11M big.bin
mkfifo pipe
mkdir empty
cat >a.py <<'P'
import os, sys
sys.path[:0] = ["ext", "third"]
import m, n
print("folder", os.getcwd())
print("acc", m.A + n.B)
print("linked", float(open("data/x").read()))
print("outside", float(open(sys.argv[1]).read()))
print("big", os.path.getsize("big.bin"))
assert os.path.exists("pipe") and os.path.isdir("empty")
open("model.pt", "w").write("weights")
open("empty/pred.csv", "w").write("1,2")
P
git add a.py data ext
git commit -qm first
ok orch try -- python3 a.py ../data/x
says '1 ok'
ok orch ls --json -m acc -m linked -m outside -m big
same "$(json runs.0.acc) $(json runs.0.linked) $(json runs.0.outside) $(json runs.0.big)" '0.75 0.7 0.7 11534336.0'
ok orch log @last
has "folder $PWD"
same "$(cat model.pt empty/pred.csv)" 'weights1,2' 'what the program left'
# the files that it left are no inputs: the same command is done
ok orch try -- python3 a.py ../data/x
says 'nothing to run'
# a value that names a file which the program writes is no input, either
cat >w.py <<'P'
import sys
open(sys.argv[2], "a").write("x")
print("acc", 1)
P
for _ in 1 2; do ok orch try -- python3 w.py --out table.csv; done
says 'nothing to run'
ok orch try -x n=1,2 --name swept -- python3 w.py '--out=t{n}.csv' t{n}.csv
# an artifact is what this trial has made, not what lay there
printf 'import sys\nif sys.argv[1] == "1": open("out.txt", "w").write("one")\nprint("acc", 1)\n' >art.py
ok orch try -x n=1,2 --artifact out=out.txt -- python3 art.py '{n}'
ok orch show "$(orch ls --where 'n = 1' --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["runs"][0]["key"])')" --json
same "$(of_json '" ".join(sorted(a["name"] for a in it["artifacts"]))')" 'out stdout'
ok orch show @last --json
same "$(of_json '" ".join(a["name"] for a in it["artifacts"])')" stdout
# outside of a repository
mkdir ../plain
cd ../plain
printf 'import os\nprint("acc", len(os.listdir(".")))\nopen("left", "w")\n' >p.py
ok orch try -- python3 p.py
[ -e left ] || _fail 'the program did not run in its folder'
fails 2 orch try --frozen -- python3 p.py
says 'needs a git repository'
