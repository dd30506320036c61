#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A program reads the files that it finds in a folder: a new or removed file makes its result stale. Files beside the
# script, of other kinds and in output folders do not.
. "$(dirname "$0")/lib.sh"
[ -e "$BUILD/orch-watch.so" ] || skip 'no orch-watch.so'
mkdir images
for i in 1 2 3; do echo $i >images/$i.txt; done
echo 1 >one.csv
echo about >images/README
cat >mean.py <<'P'
import glob, os, sys
found = {"glob": lambda: glob.glob("images/*.txt"),
         "listdir": lambda: ["images/" + n for n in os.listdir("images") if n.endswith("txt")],
         "scandir": lambda: [e.path for e in os.scandir("images") if e.name.endswith(".txt")],
         "walk": lambda: [os.path.join(a, n) for a, _, b in os.walk("images") for n in b if n.endswith(".txt")]}[sys.argv[1]]()
print("mean", sum(float(open(f).read()) for f in found) / len(found), "x", open("o" + "ne.csv").read())
os.makedirs("logs", exist_ok=True)
number = len(os.listdir("logs"))
open("logs/%d.txt" % number, "w").write("x"); open("logs/0.txt").read()
P
printf 'images/\nlogs/\n' >.gitignore
printf 'for f in "$1"/*.txt; do read v <"$f"; s=$((s + v)); done\necho sum $s\n' >sum.sh
git add -A
git commit -qm one
printf 'cd "$1"ges; sh ../sum.sh .\n' >there.sh
for command in 'python3 mean.py glob' 'python3 mean.py listdir' 'python3 mean.py scandir' 'python3 mean.py walk' 'sh there.sh ima'; do
    set -- $command
    ok orch try -- "$@"
    ok orch try -- "$@"
    says '1 done before'
    echo 4 >images/4.txt
    ok orch try -n -- "$@"
    out=$out$err
    has stale
    has images
    ok orch try -- "$@"
    ok orch try -- "$@"
    says '1 done before'
    rm images/4.txt
    ok orch try -- "$@"
    says '1 done before' # as for the first run
    echo x >images/notes.md
    echo 2 >two.csv
    echo 'x = 1' >plot.py
    ok orch try -- "$@"
    rm images/notes.md two.csv plot.py
    [ "$1" = python3 ] || continue
    says '1 done before'
done
ok orch try --force -- python3 mean.py glob
ok orch show @last
has 'images/*.txt'
has_not 'logs/*'
echo 5 >images/5.txt
ok orch try -n -- python3 mean.py glob
out=$out$err
has 'images/*.txt, which this run read, has other files now'
exit 0
