# The files that make the trials of a script stale: the script, its imports from the repository and the files of
# --inputs, but no others.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
mkdir -p pkg/deep lib src/inplace
cat >train.py <<'P'
import model
from pkg import net, other as renamed
from pkg.deep.star import *
def late():
    import late_module
import inplace
print("loss", model.VALUE)
P
echo 'VALUE = 1' >model.py
touch pkg/__init__.py pkg/net.py pkg/other.py pkg/deep/__init__.py late_module.py
echo 'from . import sibling; from ..other import x' >pkg/deep/star.py
touch pkg/deep/sibling.py src/inplace/__init__.py pkg/unused.py
printf 'x = 1\n' >pkg/other.py
git add -A
git commit -qm first
export PYTHONPATH=src
try() { ok orch try --name t "$@" -- python3 train.py; }
try
says '1 ok'
# a file that nobody imports changes nothing
echo 'print(1)' >plot.py
echo 'edited=1' >>pkg/unused.py
try
says 'nothing to run'
# each file that is imported counts, however deep and in whatever form
for file in train.py model.py pkg/__init__.py pkg/net.py pkg/other.py pkg/deep/__init__.py pkg/deep/star.py pkg/deep/sibling.py late_module.py src/inplace/__init__.py; do
    echo 'edited=1' >>$file
    ok orch try -n --name t -- python3 train.py
    has "$file changed"
    git checkout -q $file
    ok orch try -n --name t -- python3 train.py
    has 'done'
done
# a data file, or a module of a computed name, is named by --inputs: beside what is seen, not in its place
echo 1 >set.csv
touch lib/extra.py
try --inputs set.csv --inputs 'lib/*.py'
says '1 ok'
try --inputs set.csv --inputs 'lib/*.py'
says 'nothing to run'
echo 2 >set.csv
try --inputs set.csv --inputs 'lib/*.py'
says 'stale: set.csv changed'
echo 'edited=1' >>lib/extra.py
try --inputs set.csv --inputs 'lib/*.py'
says 'stale: lib/extra.py changed'
echo 'edited=1' >>model.py
try --inputs set.csv --inputs 'lib/*.py'
says 'stale: model.py changed'
fails 2 orch try --inputs gone.csv -- python3 train.py
says "gone.csv"
fails 2 orch try --inputs /etc/passwd -- python3 train.py
says "relative path"
# a module, a package, a shell script that starts another, a text behind -c, a folder of its own on the path
printf 'from pkg import net\nprint("loss", 1)\n' >pkg/job.py
ok orch try --name m -- python3 -m pkg.job
says '1 ok'
echo 'edited=1' >>pkg/net.py
ok orch try -n --name m -- python3 -m pkg.job
has 'pkg/net.py changed'
git checkout -q pkg/net.py
printf 'here=$(dirname "$0")\n. "$here/lib.sh"\npython3 "$here/step.py"\n' >run.sh
echo 'a=1' >lib.sh
printf 'import model\nprint("loss", 1)\n' >step.py
ok orch try --name s -- sh run.sh
says '1 ok'
for file in lib.sh step.py model.py; do
    cp $file $SCRATCH/kept
    echo 'edited=1' >>$file
    ok orch try -n --name s -- sh run.sh
    has "$file changed"
    cp $SCRATCH/kept $file
done
ok orch try --name c -- sh -c 'python3 step.py'
echo 'edited=1' >>step.py
ok orch try -n --name c -- sh -c 'python3 step.py'
has 'step.py changed'
ok orch try --name d -- python3 -c 'import model; print("loss", 1)'
echo 'edited=1' >>model.py
ok orch try -n --name d -- python3 -c 'import model; print("loss", 1)'
has 'model.py changed'
mkdir far
touch far/hidden.py
printf 'import os, sys\nsys.path.insert(0, os.path.join("f" + "ar"))\nimport hidden\nprint("loss", 1)\n' >path.py
ok orch try --name p -- python3 path.py
echo 'edited=1' >>far/hidden.py
ok orch try -n --name p -- python3 path.py
has 'far/hidden.py changed'
# a script chosen by a setting, and what it imports
printf 'import model\nprint("loss", 1)\n' >one.py
printf 'print("loss", 2)\n' >two.py
ok orch try --name x -x file=one.py,two.py -- python3 '{file}'
says '2 ok'
echo 'edited=1' >>model.py
ok orch try --name x -x file=one.py,two.py -- python3 '{file}'
says '1 ok, 1 done before'
# the same in a recipe: 'inputs' adds to what is seen; only what it names is ever shared
cat >r.recipe <<'R'
format: 1
recipe: r
experiments:
  e: { plugin: sleep, with: { seconds: 0 }, program: [sh, go.sh], inputs: [set.csv] }
R
echo 'echo "{\"event\":\"done\",\"status\":\"ok\"}" >&$ORCH_EVENTS' >go.sh
ok orch run r.recipe
says '1 ok'
echo 'edited=1' >>go.sh
ok orch plan r.recipe
has 'go.sh changed'
ok orch run r.recipe
echo 3 >set.csv
ok orch plan r.recipe
has 'set.csv changed'
