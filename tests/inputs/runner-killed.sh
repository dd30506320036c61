#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The runner is killed after a trial in the user's folder has ended and before it was recorded: the next command records
# the trial, and checks whether its inputs changed meanwhile.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
others=0
until_() {
    for _ in $(seq 600); do
        "$@" && return
        sleep 0.05
    done
    _fail "waited in vain: $*"
}
has_ended() { ! ps -o stat= --ppid "$1" | grep -q '^[^Z]'; }
# killed CHANGE... -- WORD...: 'orch try WORD...' is killed when its trial has ended and CHANGE was done
killed() {
    local change=()
    while [ "$1" != -- ]; do
        change+=("$1")
        shift
    done
    shift
    rm -f begun go
    orch try "$@" >"$SCRATCH/killed" 2>&1 &
    local pid=$!
    until_ test -e begun
    kill -STOP $pid
    touch go
    until_ has_ended $pid
    [ ${#change[@]} = 0 ] || "${change[@]}"
    kill -KILL $pid
    wait $pid 2>/dev/null
    ok orch try -s k=$((++others)) -- sh -c 'echo acc {k}'
    says "recorded the end of 1 trial whose 'orch' process was killed"
}
edit() {
    sleep 0.02
    cp "$1" "$SCRATCH/kept"
    echo "$2" >>"$1"
    cp "$SCRATCH/kept" "$1"
}
write() {
    printf 'touch begun\nwhile ! [ -e go ]; do sleep 0.02; done\necho acc $(cat "$1" | head -n 1)\n' >a.sh
    echo 1 >set.csv
}
write
printf 'go\nbegun\nset.csv\n' >.gitignore
git add -A
git commit -qm one
sleep 1
killed -- --no-watch -- sh a.sh set.csv
ok orch try --no-watch -- sh a.sh set.csv
says '1 done before'
killed edit a.sh '# a' -- --no-watch --force -- sh a.sh set.csv
ok orch ls --json
same "$(json runs.1.state)" lost
ok orch show "$(json runs.1.key)"
has 'inputs changed while it ran, or before it was recorded: a.sh'
for watch in --no-watch ''; do
    killed edit set.csv 2 -- $watch -x file=set.csv -s k=w${watch:+o} -- sh a.sh '{file}' '{k}'
    ok orch try -n $watch -x file=set.csv -s k=w${watch:+o} -- sh a.sh '{file}' '{k}'
    out=$out$err
    has 'set.csv was written while the run used it'
done
# in no repository the files of the code are not known: what was read tells, or nothing does
mkdir "$SCRATCH/plain"
cd "$SCRATCH/plain"
write
killed -- --no-watch -- sh a.sh set.csv
ok orch try -n --no-watch -- sh a.sh set.csv
out=$out$err
has 'its inputs were not checked again after orch was killed'
[ -e "$BUILD/orch-watch.so" ] || exit 0
killed -- -- sh a.sh ./set.csv
ok orch try -- sh a.sh ./set.csv
says '1 done before'
exit 0
