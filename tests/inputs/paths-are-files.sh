# What a program read is the file, whatever path leads to it: a project reached by a symbolic link, data behind a link
# opened by its real path, '..' behind a link.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
[ -e "$BUILD/orch-watch.so" ] || skip 'no orch-watch.so'
mkdir -p "$SCRATCH/disk/deep" "$SCRATCH/other" "$SCRATCH/home/env/bin"
for name in a b c deep/d; do echo 1 >"$SCRATCH/disk/$name.txt"; done
echo 1 >"$SCRATCH/other/one.csv"
touch "$SCRATCH/home/env/pyvenv.cfg"
echo 1 >"$SCRATCH/home/env/e.txt"
mkdir sub
ln -s "$SCRATCH/disk" data
ln -s "$SCRATCH/other/one.csv" sub/one.csv
ln -s "$SCRATCH/home/env" env
ln -s ../data/deep sub/far
echo 1 >sub/own.txt
cat >read.py <<'P'
import os, pathlib
real = pathlib.Path("data").resolve()
total = int((real / ("a" + ".txt")).read_text())          # the real path
total += int(open("sub/far/../b.txt").read())             # '..' is that of the link's target
total += int(open(os.environ["PWD"] + "/data/c.txt").read())
total += int(open(os.path.realpath("sub/one.csv")).read())
total += int(open(os.path.realpath("env/e" + ".txt")).read())  # of an environment
total += int(open(os.environ["WAY"] + "/sub/own.txt").read())
os.chdir("data/deep")
total += int(open("d" + ".txt").read())
print("total", total)
P
git add .
git commit -qm one
ln -s "$SCRATCH/w" "$SCRATCH/way"
export WAY=$SCRATCH/way
changes() { # FILE...: each makes the run stale
    local file
    for file; do
        echo 2 >"$file"
        ok orch try -n -- python3 read.py
        out=$out$err
        has "$file, which this run read, has changed since"
        echo 1 >"$file"
        ok orch try -- python3 read.py
        says 'nothing to run'
    done
}
ok orch try -- python3 read.py
says '1 ok'
ok orch show @last
has sub/one.csv
has_not e.txt
has_not "$SCRATCH/disk"
changes data/a.txt data/b.txt data/c.txt data/deep/d.txt sub/own.txt
# the project by its link
cd "$SCRATCH/way" || exit
ok orch try -- python3 read.py
says 'nothing to run'
changes data/a.txt sub/own.txt
printf 'plugin: p\ncommand: [python3, read.py]\nmetrics: { total: min }\n' >p.plugin
printf 'format: 1\nrecipe: t\nexperiments: { e: { plugin: ./p.plugin } }\n' >t.recipe
cd "$SCRATCH" || exit
ok orch run way/t.recipe
says '1 ok'
echo 2 >w/sub/own.txt
ok orch plan way/t.recipe
has 'sub/own.txt, which this run read, has changed since'
ok orch -C w plan t.recipe
has 'sub/own.txt, which this run read, has changed since'
# a link of the repository that a command, a script or 'inputs' names: git has its text alone
cd "$SCRATCH/w" || exit
echo 'print("total", int(open("sub/one.csv").read()))' >literal.py
echo 'import sys; print("total", int(open(sys.argv[1]).read()))' >word.py
printf 'plugin: q\ncommand: [sh, -c, "cat sub/*.csv; echo total 1"]\nmetrics: { total: min }\n' >q.plugin
printf 'format: 1\nrecipe: u\nexperiments: { e: { plugin: ./q.plugin, inputs: [sub/one.csv] } }\n' >u.recipe
git add .
git commit -qm two
for watch in on off; do
    export ORCH_WATCH=$watch
    for kind in literal.py 'word.py sub/one.csv' recipe; do
        command="try -- python3 $kind"
        plan="try -n -- python3 $kind"
        [ "$kind" != recipe ] || command='run u.recipe' plan='plan u.recipe'
        echo 1 >"$SCRATCH/other/one.csv"
        # shellcheck disable=SC2086
        ok orch $command
        # shellcheck disable=SC2086
        ok orch $plan
        says '1 done'
        echo 2 >"$SCRATCH/other/one.csv"
        # shellcheck disable=SC2086
        ok orch $plan
        says '1 stale'
    done
done
