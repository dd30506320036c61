#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Parameters keep the names that programs give them: capitals, dots, dashes, letters of any script.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
export LC_ALL=C.UTF-8
printf 'import sys\nprint("n", len(sys.argv))\nprint(sys.argv[1:])\n' >a.py
git add -A
git commit -qm first
ok orch try -x C=1,10 -x optimizer.lr=0.1,batch-size=32 -s größe=7 -- python3 a.py '{C}' '--lr={optimizer.lr}' '${batch-size}' '{größe}'
says '2 ok'
ok orch log @last
has "['10', '--lr=0.1', '32', '7']"
ok orch ls --where 'C > 5 and optimizer.lr = 0.1 and größe = 7' --json
same "$(json runs.#)" 1
# braces of the program's own stay
ok orch try -s C=1 -- python3 a.py '{C}' '{x.y}' '{a-b}'
ok orch log @last
has "'{x.y}', '{a-b}'"
fails 2 orch try -s C=1 -- python3 a.py '{c}'
says "did you mean '{C}'?"
fails 2 orch try -x 1a=2 -- python3 a.py '{1a}'
says 'begins with a letter'
# a name that is given twice is said, wherever
fails 2 orch try -n -x n=1,2 -s n=3 -- python3 a.py '{n}'
says "'n' is given twice"
says '-x n=1,2'
says '-s n=3'
fails 2 orch try -n -x n=1,n=2 -- python3 a.py '{n}'
says "'n' is given twice"
# so do the parameters of a NAME.plugin, in a recipe and on the command line
cat >mine.plugin <<'P'
plugin: mine
version: 1.0.0
about: prints
command: [python3, a.py, "${optimizer.lr}", "${C}"]
metrics_from: lines
metrics: any
parameters:
  optimizer.lr: {type: real, default: 0.1}
  C: {type: int}
P
cat >r.recipe <<'R'
format: 1
recipe: r
experiments:
  mine: {plugin: ./mine.plugin, sweep: {C: [1, 2]}}
R
git add -A
git commit -qm more
ok orch run r.recipe -s optimizer.lr=0.50
says '2 ok'
ok orch log @last
has "'0.50'"
ok orch plan r.recipe -s mine.optimizer.lr=0.7
has 'optimizer.lr was 0.50, is 0.7'
fails 2 orch plan r.recipe -s other.lr=1
says "unknown experiment 'other'"
