#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Mistakes on the command line are reported as what they are.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
printf 'print("n 1")\n' >a.py
git add -A
git commit -qm first
for option in '-j 0' '-j -1'; do
    fails 2 orch try $option -- python3 a.py
    says 'of at least 1'
done
for repeat in 0 -3 x '3: [a'; do
    fails 2 orch try "--repeat=$repeat" -- python3 a.py
    says "  at: --repeat $repeat"
done
fails 2 orch try -n -x v=1,1 -- python3 a.py '{v}'
says 'has the value 1 twice'
says_not try.recipe
slip() { # slip TEXT OPTION...: a mistake in an option is at that option, for there is no recipe
    fails 2 orch try "${@:2}" -- python3 a.py
    says "$1"
    says_not try.recipe
}
slip "at: --search n" --search n
slip "at: --stop median(a=3)" --search 'max n' --stop 'median(a=3)'
slip 'at: --sampler best' --search 'max n' --sampler best
slip 'at: --until high' --search 'max n' --until high
slip "at: --repeat auto(3)" --repeat 'auto(3)'
slip 'at: --resources gpus=x' --resources gpus=x
slip "'nofile' matches no file" --inputs nofile
TMPDIR=/nonexistent _run orch try -- python3 a.py
[ $status = 0 ] || {
    says TMPDIR
    says /nonexistent
}
fails 2 orch predict --net "$SCRATCH/FILE.onxx" --gpu t4
says 'no such file'
says_not 'unknown network'
printf 'format: 1\nrecipe: x\nexperiments:\n  nap:\n    plugin:\xc2\xa0sleep\n' >nb.recipe
fails 2 orch plan nb.recipe
says 'U+00A0'
says 'nb.recipe:5:12'
printf 'format: 1\nrecipe: x\nabout: "a\xc2\xa0b"\nexperiments:\n  nap: {plugin: sleep}\n' >nb.recipe
ok orch plan nb.recipe
ok orch try --repeat 3 -- python3 a.py
ok orch ls -n 1
says "1 of 3 runs; '-n 0' lists all"
mkdir "$SCRATCH/gone"
cd "$SCRATCH/gone"
rmdir "$SCRATCH/gone"
fails 3 orch ls
says 'no longer exists'
says_not "'/.orch"
ok orch ls -C "$SCRATCH/w"
ok orch --version
