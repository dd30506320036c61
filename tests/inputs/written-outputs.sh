# A file that a trial writes is its output, although the command names it or git tracks it: no trial is repeated, and
# the run is reused. A file that was read before it was written is reported. In a folder apart the names are those of
# the user's folder.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
[ -e "$BUILD/orch-watch.so" ] || skip 'no orch-watch.so'
cat >w.py <<'P'
import os, sys
name, way = sys.argv[1], sys.argv[2]
if way == "replace":
    open(name + ".tmp", "w").write("1")
    os.replace(name + ".tmp", name)
elif way == "update":
    old = open(name).read()
    open(name, "w").write(old + "1")
else:
    open(name, way).write("1")
print("x", 1)
P
git add .
git commit -qm one
# written by hand before, untracked, named by the command: written, appended to, replaced
for way in w a replace; do
    echo 0 >out-$way.csv
    ok orch try -- python3 w.py out-$way.csv $way
    says_not 'inputs changed'
    says_not 'tried again'
    says_not 'not reused'
    says '1 ok'
    ok orch try -- python3 w.py out-$way.csv $way
    says 'nothing to run'
    ok orch show @last
    has 'written'
    has "out-$way.csv"
done
# the same outside of the repository
echo 0 >"$SCRATCH/abs.csv"
ok orch try -- python3 w.py "$SCRATCH/abs.csv" w
says_not 'inputs changed'
says_not 'not reused'
ok orch try -- python3 w.py "$SCRATCH/abs.csv" w
says 'nothing to run'
# committed, in a sweep: said once
echo 0 >results.csv
git add results.csv
git commit -qm two
echo 5 >results.csv
ok orch try -x n=1,2,3 -- python3 w.py results.csv w '{n}'
says "'results.csv', which is committed, was overwritten by run"
says_not 'use a copy'
says_not 'tried again'
says '3 ok'
same "$(grep -o 'which is committed' <<<"$err" | wc -l)" 1
ok orch try -x n=1,2,3 -- python3 w.py results.csv w '{n}'
says 'nothing to run'
# committed and not named
printf 'open("res" + "ults.csv", "w").write("7")\nprint("x", 1)\n' >hidden.py
ok orch try -- python3 hidden.py
says "'results.csv', which is committed, was overwritten by run"
ok orch try -- python3 hidden.py
says 'nothing to run'
# edited by hand afterwards, a named file is an input again
sleep 0.1
echo 9 >out-w.csv
ok orch try -- python3 w.py out-w.csv w
says_not 'nothing to run'
# read, then written
echo 0 >state.csv
ok orch try -- python3 w.py state.csv update
says_not 'inputs changed'
says '1 ok'
ok orch try -- python3 w.py state.csv update
says 'nothing to run'
says 'state.csv is both read and written by this run'
ok orch show @last
has 'read and written'
# apart: the names and digests are those of the user's files
mkdir data
echo 1 >data/1.csv
echo data/ >.gitignore
printf 'print("x", float(open("data/" + str(1) + ".csv").read()))\nopen("da" + "ta.out", "w")\n' >r.py
printf 'print("helper")\n' >helper.py
printf '\n__import__("hel" + "per")\n' >>r.py
git add .
git commit -qm three
for kind in links mount; do
    ORCH_APART=$kind ok orch try --force --frozen -- python3 r.py
    ok orch show @last
    has 'data/1.csv'
    has 'helper.py'
    has_not '/work/'
    ok orch try -- python3 r.py
    says 'nothing to run'
    echo 2 >data/1.csv
    ok orch try -n -- python3 r.py
    out=$out$err
    has 'data/1.csv, which this run read, has changed since'
    echo 1 >data/1.csv
done
