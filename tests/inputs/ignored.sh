#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Files that git ignores and files outside of the repository make a run stale when the command, a parameter of type
# path, 'inputs:' or an import of the script names them; files that the run wrote do not.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
mkdir data lib p "$SCRATCH/else"
printf 'data/\nlib/\n*.bin\n' >.gitignore
echo 0.1 >data/x.csv
echo 0.1 >"$SCRATCH/else/y.csv"
echo 'A = 0.5' >lib/m.py
echo a >big.bin
printf 'import sys; print("acc", open(sys.argv[1]).read())\n' >b.py
printf 'import sys; sys.path.insert(0, "lib"); import m; print("acc", m.A)\n' >a.py
cat >p/p.plugin <<'P'
plugin: p
version: 0.1.0
about: x
licence: MIT
command: [sh, ./p.sh, "${data}"]
metrics_from: lines
parameters:
  data: {type: path, help: d}
metrics:
  acc: {better: max, help: a}
P
echo 'echo "acc $(cat "$1/x.csv")"' >p/p.sh
printf 'format: 1\nrecipe: r\nexperiments:\n  a: {plugin: p/p.plugin, with: {data: data}}\n' >r.recipe
git add -A && git commit -qm one

# again CMD...: the command is run, has nothing to do a second time, and something after `$change`
again() {
    ok "$@"
    ok "$@"
    says "1 done before"
    eval "$change"
    ok "$@"
    says_not "1 done before"
}
change='echo 0.7 >data/x.csv' again orch try -- python3 b.py data/x.csv
change='echo 0.9 >data/x.csv' again orch run r.recipe
says "data changed"
change='echo z >data/new.csv' again orch run r.recipe
change='echo 0.2 >"$SCRATCH/else/y.csv"' again orch try -- python3 b.py "$SCRATCH/else/y.csv"
says "y.csv changed"
change='echo A = 0.9 >lib/m.py' again orch try -- python3 a.py
says "lib/m.py changed"
change='echo b >big.bin' again orch try --inputs big.bin -- python3 b.py data/x.csv

# a name that is nowhere is refused
fails 2 orch try --inputs no.bin -- python3 a.py
says "no.bin"

# what the run writes is no input of the next
cat >w.py <<'P'
import sys
open(sys.argv[1], "a").write("x")
print("acc", 1)
P
for made in "$SCRATCH/else/new.pt" "$SCRATCH/else/new2.pt"; do
    ok orch try -- python3 w.py "$made"
    ok orch try -- python3 w.py "$made"
    says "1 done before"
done
