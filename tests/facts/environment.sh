# The recorded environment of a run: the interpreter, its packages and the data files that the command names.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
# two environments with packages in them; their interpreter is a link, and a program that must not run
real=$(python3 -c 'import os, sys; print(os.path.realpath(sys.executable))')
series=$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
version=$(python3 -c 'import platform; print(platform.python_version())')
package() { mkdir -p "$1/lib/python$series/site-packages/$2.dist-info"; }
environment() {
    mkdir -p "$1/bin"
    ln -s "$real" "$1/bin/python3"
    printf 'home = /usr/bin\ninclude-system-site-packages = false\n' >"$1/pyvenv.cfg"
    package "$1" "torch-$2"
    package "$1" numpy-1.24.2
    package "$1" "Some_Tool-$3"
}
environment "$SCRATCH/one" 1.13.1 1
environment "$SCRATCH/two" 2.5.0 1
environment "$SCRATCH/three" 1.13.1 2
cat >train.py <<'P'
#!/usr/bin/env python3
import sys
print("score %d" % len(open(sys.argv[2]).read()))
P
chmod +x train.py
echo one >a.csv
echo three >b.csv
cat >job.plugin <<'M'
plugin: job
version: 1.0.0
about: reads a file
command: [./train.py, --data, "${data}"]
parameters:
  data: { type: path, default: a.csv }
metrics:
  score: max
M
printf '.orch\n' >.gitignore
cat >r.recipe <<'R'
format: 1
recipe: r
experiments:
  job: { plugin: job, sweep: { data: [a.csv, b.csv] } }
R
git add -A
git commit -qm all
here=$PATH
use() { PATH=$SCRATCH/$1/bin:$here; }
use one
ok orch run r.recipe
says '2 ok'
ok orch show @last --json
one=$(json key)
same "$(json facts.environment.torch)" 1.13.1
same "$(json facts.environment.python)" "$version"
same "$(json facts.environment.numpy)" 1.24.2
[ "$(wc -c <<<"$out")" -lt 20000 ] || _fail 'large facts'
ok orch run r.recipe
says 'nothing to run: 2 of 2'
# by default a run counts in any environment, and the plan says what differs
use two
ok orch plan r.recipe
has 'environment differs: torch 1.13.1 -> 2.5.0'
has done
sed 's/plugin: job,/plugin: job, reuse: device,/' r.recipe >w.recipe
ok orch plan w.recipe --json
same "$(json trials.0.state)" stale
same "$(json trials.0.reason)" 'environment differs: torch 1.13.1 -> 2.5.0'
ok orch run w.recipe
says '2 ok'
use one
ok orch run w.recipe
says 'nothing to run: 2 of 2' # the older runs are of this one
use two
ok orch run w.recipe
says 'nothing to run: 2 of 2'
ok orch diff "$one" @last
has environment
has 1.13.1
has 2.5.0
ok orch diff "$one" @last --json
case $out in *'"environment"'*) ;; *) _fail 'diff --json' ;; esac
# a package that no run names is found in the list that is stored once
same "$(find .orch -path '*environments*' -name '*.txt' | wc -l)" 2 'kept lists'
use three
ok orch plan r.recipe
has 'environment differs: torch 2.5.0 -> 1.13.1, some-tool 1 -> 2'
ok orch plan w.recipe --json
same "$(json left)" 0 # which decides nothing
# a file that a parameter names is part of the trial
use one
echo longer >b.csv
ok orch plan r.recipe --json
same "$(json left)" 1
same "$(json trials.1.state)" stale
same "$(json trials.1.reason)" 'b.csv changed'
ok orch run r.recipe
says '1 ok, 1 done before'
# as it is behind '=' in a word of a command
cat >t.recipe <<'R'
format: 1
recipe: t
experiments:
  t: { plugin: job, program: [./train.py, --in=a.csv, a.csv] }
R
ok orch run t.recipe
says '1 ok'
echo more >>a.csv
ok orch plan t.recipe --json
same "$(json left)" 1
git checkout -q a.csv
# an interpreter of the repository is looked at, not run
mkdir -p evil/bin
printf '#!/bin/sh\ntouch "%s/mark"\n' "$SCRATCH" >evil/bin/python3
chmod +x evil/bin/python3
sed 's|./train.py, --in=a.csv|evil/bin/python3|' t.recipe >e.recipe
for command in check plan config report; do ok orch $command e.recipe; done
[ ! -e "$SCRATCH/mark" ] || _fail 'a command that only reads ran the interpreter'
