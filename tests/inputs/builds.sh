#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A command that builds the program it runs: make and ninja only read the times of files that are up to date, and a
# program is started without being opened. Both count as inputs.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
[ -e "$BUILD/orch-watch.so" ] || skip 'no orch-watch.so'
command -v gcc >/dev/null && command -v make >/dev/null || skip 'no gcc or no make'
mkdir src
printf '#include <stdio.h>\n#include "solve.h"\nint main(void) { printf("energy %%g\\n", solve()); return 0; }\n' >src/main.c
solve() {
    printf 'static double solve(void) { return %s; }\n' "$1" >src/solve.h
    touch -d "${2:-now}" src/solve.h
}
printf 'SOURCES = $(wildcard src/*)\nsolver: $(SOURCES)\n\tgcc -o $@ src/main.c\nrun: solver\n\t./solver\n' >Makefile
echo solver >.gitignore
solve 0.5
git add -A
git commit -qm one
tries() {
    ok orch try -- $1
    says '1 ok'
    ok orch try -- $1
    says '1 done before'
}
builds() {     # COMMAND
    tries "$1" # built by the run itself
    solve 0.25
    ok orch try -n -- $1
    out=$out$err
    has 'src/solve.h, which this run read, has changed since'
    tries "$1"
    ok orch show @last
    has 0.25
    ok orch try --force -- $1
    ok orch show @last
    has src/solve.h
    has src/main.c
    ok orch try -- $1
    says '1 done before' # up to date
    solve 0.125
    ok orch try -- $1
    says '1 ok'
    ok orch show @last
    has 0.125
    says_not 'both read and written'
    solve 0.5
}
builds 'make -s run'
if command -v ninja >/dev/null; then
    printf 'rule cc\n  command = gcc -o $out src/main.c\nrule run\n  command = ./solver\nbuild solver: cc src/main.c | src/solve.h\nbuild go: run solver\n  pool = console\n' >build.ninja
    git add -A
    git commit -qm ninja
    rm -f solver
    builds 'ninja --quiet go'
fi
# a program that a script starts
gcc -o tool src/main.c
echo tool >>.gitignore
printf './$1\n' >run.sh
ok orch try -- sh run.sh tool
ok orch show @last
has tool
solve 2
gcc -o tool src/main.c
ok orch try -n -- sh run.sh tool
out=$out$err
has 'tool'
has 'changed'
printf './to$1\n' >run.sh
ok orch try -- sh run.sh ol
ok orch try -- sh run.sh ol
says '1 done before'
solve 3
gcc -o tool src/main.c
ok orch try -n -- sh run.sh ol
out=$out$err
has 'tool, which this run read, has changed since'
exit 0
