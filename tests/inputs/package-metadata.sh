# What 'pip install -e .' leaves beside a package belongs to the environment: a program that looks at it has not read it
# as an input.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
[ -e "$BUILD/orch-watch.so" ] || skip 'no orch-watch.so'
mkdir mine mine.egg-info
echo 'A = 0.5' >mine/__init__.py
echo 'Name: mine' >mine.egg-info/PKG-INFO
echo '*.egg-info' >.gitignore
cat >a.py <<'P'
import glob, mine
for name in glob.glob("*.egg" + "-info/PKG-INFO"):
    open(name).read()
print("loss", mine.A)
P
git add -A
git commit -qm first
ok orch try -- python3 a.py
ok orch show @last
has mine/__init__.py
has_not egg-info
echo 'Name: mine2' >mine.egg-info/PKG-INFO
ok orch try -- python3 a.py
says 'nothing to run'
