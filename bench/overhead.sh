#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# 1,000 trials of `null` at -j 1 against spawning and waiting for /bin/true 1,000 times, with GNU
# parallel, make and Snakemake on 1,000 jobs beside it: all in one run, printed as ratios to the spawn.
# usage: bench/overhead.sh [--strict] [BUILD]   (--strict: a missing peer, or a ratio over 6, fails)
set -eu
strict=0; [ "${1:-}" = --strict ] && { strict=1; shift; }
cd "$(dirname "$0")/.."
build=$(realpath "${1:-build}")
n=1000
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cd "$work"

now() { date +%s%N; }
took() { echo $((($(now) - $1) / 1000)); } # microseconds

cat >spawn.c <<'C'
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
extern char **environ;
int main(int argc, char **argv)
{
    char *args[] = {"/bin/true", NULL};
    for (int i = atoi(argv[argc > 1 ? 1 : 0]); i > 0; i--) {
        pid_t pid;
        if (posix_spawn(&pid, args[0], NULL, NULL, args, environ) != 0)
            return 1;
        waitpid(pid, NULL, 0);
    }
    return 0;
}
C
cc -O2 -o spawn spawn.c
{ printf 'format: 1\nrecipe: overhead\nexperiments:\n  n: { plugin: "null", repeat: %d }\n' $n; } >r.recipe

failed=0
row() { printf '%-28s %9.3f s  %6.2f times\n' "$1" "$(echo "$2" | awk '{print $1 / 1e6}')" "$(echo "$2 $base" | awk '{print $1 / $2}')"; }
peer() { # peer NAME PROGRAM COMMAND...
    local name=$1 program=$2; shift 2
    if ! command -v "$program" >/dev/null; then
        printf '%-28s missing: apt-get install %s\n' "$name" "$program"
        [ $strict = 0 ] || failed=1
        return
    fi
    local start; start=$(now); "$@" >/dev/null 2>&1 || { printf '%-28s failed\n' "$name"; failed=1; return; }
    row "$name" "$(took "$start")"
}

best=
for _ in 1 2 3; do start=$(now); ./spawn $n; t=$(took "$start"); [ -n "$best" ] && [ "$best" -le "$t" ] || best=$t; done
base=$best
row "spawn and wait /bin/true" "$base"
best=
for i in 1 2 3; do
    rm -rf .orch; start=$(now)
    "$build/orch" run r.recipe --yes -q --no-progress >/dev/null 2>&1
    t=$(took "$start"); [ -n "$best" ] && [ "$best" -le "$t" ] || best=$t
done
row "orch run -j 1" "$best"
"$build/orch" db info | grep -q "^runs  *$n ended" || { echo "not every trial is in the store"; failed=1; }
ratio=$(echo "$best $base" | awk '{print $1 / $2}')
echo "$ratio" | awk '{exit !($1 > 6)}' && { echo "over 6 times"; [ $strict = 0 ] || failed=1; }
start=$(now); rm -rf .orch; "$build/orch" run r.recipe --yes -q --no-progress -j 2 >/dev/null 2>&1; row "orch run -j 2" "$(took "$start")"
seq $n >jobs
peer "GNU parallel -j 1" parallel parallel -j 1 /bin/true '#' :::: jobs
{ echo "all: $(seq -s ' ' -f 'o%.0f' $n)"; echo '%:'; printf '\t@/bin/true\n'; } >Makefile
peer "make -j 1" make make -j 1 all
printf 'rule all:\n  input: expand("s{i}", i=range(%d))\nrule one:\n  output: "s{i}"\n  shell: "touch {output}"\n' $n >Snakefile
peer "Snakemake -j 1" snakemake timeout 600 snakemake -q -c 1
exit $failed
