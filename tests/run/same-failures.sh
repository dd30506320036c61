#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A sweep whose first trials fail in the same way within seconds stops after three trials, or asks on a terminal.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
runs() {
    ok orch ls -n 0 --where "state=$1" --json
    python3 -c 'import json, sys; print(len(json.load(sys.stdin)["runs"]))' <<<"$out"
}
printf 'import sys\nx = 1.0 / len(sys.argv)\nimport no_such_module_%s\n' a >a.py
printf 'import sys\nv = int(sys.argv[1])\nprint("loss", v)\nif v < 3: raise ValueError(f"v is {v}, {v * 10}")\n' >few.py
printf 'import sys\nv = sys.argv[1]\nraise ValueError("no " + v)\n' >other.py
printf '.orch/\n' >.gitignore
git add -A
git commit -qm first

# not on a terminal: it stops, says how many remain and how they run
fails 1 orch try -x 'n=range(0,9)' -- python3 a.py '{n}'
says "first 3 trials failed in the same way"
says no_such_module_a
says '6 trials were not run'
says --keep-going
same "$(runs failed)" 3 'failed runs'
fails 1 orch try -x 'n=range(0,9)' --keep-going -- python3 a.py '{n}'
says_not 'in the same way'
same "$(runs failed)" 12 'failed runs with --keep-going'

# several at once: those that run end; numbers in the reason do not count
fails 1 orch try -j 2 -x 'n=range(-9,0)' --name two -- python3 few.py '{n}'
says 'in the same way'
n=$(runs failed)
n=$((n - 12))
[ "$n" -ge 3 ] && [ "$n" -le 5 ] || _fail "$n runs of two"

# after a success, or when they fail in different ways, nothing stops
fails 1 orch try -x n=3,0,1,2,-1,-2 --name some -- python3 few.py '{n}'
says_not 'in the same way'
says '6 trials: 1 ok, 5 failed'
fails 1 orch try -x n=a,b,c,d,e --name ways -- python3 other.py '{n}'
says_not 'in the same way'
says '5 trials: 5 failed'

# only the experiment itself stops, and what needs it
cat >m.plugin <<Y
plugin: m
command: [python3, a.py, '\${n}']
parameters: { n: 1 }
metrics: { loss: min }
Y
sed 's/plugin: m/plugin: good/; s/, a.py.*/, few.py, 5]/' m.plugin >good.plugin
cat >r.recipe <<Y
format: 1
recipe: r
experiments:
  bad: { plugin: ./m.plugin, sweep: { n: [1, 2, 3, 4, 5] } }
  fine: { plugin: ./good.plugin, sweep: { n: [1, 2, 3, 4, 5] } }
Y
fails 2 orch run --fail-fast --keep-going r.recipe
says exclude
fails 1 orch run r.recipe
says "'bad' stops"
says '10 trials: 5 ok, 3 failed, 2 not run'
fails 1 orch run r.recipe --keep-going
says '10 trials: 5 failed, 5 done before'

# on a terminal: a question, whose default is to stop
asks() {
    python3 - "$@" <<'P'
import os, pty, subprocess, sys
answer, command = sys.argv[1].encode(), sys.argv[2:]
master, slave = pty.openpty()
def lead():
    os.setsid()
    import fcntl, termios
    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
run = subprocess.Popen(command, stdin=slave, stdout=subprocess.DEVNULL, stderr=slave, preexec_fn=lead)
os.close(slave)
seen, told = b"", False
while True:
    try:
        part = os.read(master, 65536)
    except OSError:
        break
    if not part:
        break
    seen += part
    if b"[y/N]" in seen and not told:
        told = True
        os.write(master, answer)
sys.stdout.buffer.write(seen)
sys.exit(run.wait())
P
}
fails 1 asks $'\n' orch try -x 'n=range(0,7)' --name stop -- python3 a.py '{n}'
has 'Run the other 4 all the same?'
has '4 not run'
fails 1 asks $'y\n' orch try -x 'n=range(0,7)' --name go -- python3 a.py '{n}'
has '[y/N]'
has '7 failed'
has_not 'not run'
fails 130 asks $'\x03' orch try -x 'n=range(0,7)' --name cut -- python3 a.py '{n}'
has '3 failed'
has '4 not run'
