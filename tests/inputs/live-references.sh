#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# --live with references between experiments: an edit during a sweep, and references to trials from before it.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
cat >step.py <<'P'
import os, sys, time
import conf
name, n, given = sys.argv[1:4]
if os.environ.get("WAIT") == name + n and not os.path.exists(os.environ["THERE"] + "/go"):
    open(os.environ["THERE"] + "/begun", "w").close()
    while not os.path.exists(os.environ["THERE"] + "/go"):
        time.sleep(0.02)
print("acc", conf.A + float(n) + float(given) * 100)
P
for name in first second third; do
    printf 'plugin: %s\ncommand: [python3, step.py, %s, "${n}", "${given}"]\nparameters: { n: { type: int, default: 1 }, given: { type: real, default: 0 } }\nmetrics: { acc: { better: max } }\n' $name $name >$name.plugin
done
cat >r.recipe <<'R'
format: 1
recipe: r
experiments:
  first: { plugin: ./first.plugin, sweep: { n: [1, 2] } }
  second: { plugin: ./second.plugin, sweep: { n: [1, 2] }, with: { given: "${first.acc}" } }
  third: { plugin: ./third.plugin, with: { n: 7, given: "${best(first, acc).acc}" } }
R
echo 'A = 0.25' >conf.py
git add -A
git commit -qm one
meet() { # TRIAL OPTIONS...: conf.py is edited while TRIAL runs
    rm -rf .orch
    git checkout -q .
    rm -f "$SCRATCH/go" "$SCRATCH/begun"
    WAIT=$1 THERE=$SCRATCH orch run r.recipe "${@:2}" >../o 2>../e &
    local pid=$!
    for _ in $(seq 3000); do
        [ -e "$SCRATCH/begun" ] && break
        kill -0 $pid 2>/dev/null || break
        sleep 0.02
    done
    [ -e "$SCRATCH/begun" ] || {
        out= err=$(<../e)
        _fail "no trial waits"
    }
    echo 'A = 0.5' >conf.py
    touch "$SCRATCH/go"
    wait $pid
    status=$?
    out=$(<../o) err=$(<../e)
    same $status 0 "status of 'orch run $*'"
}
# values EXPERIMENT COUNT: acc of its newest runs
values() {
    ok orch ls -n 0 --where "experiment=$1 and state=ok" -m acc --json
    for i in $(seq 0 $(($2 - 1))); do json runs.$i.acc; done | sort -g | xargs
}
for trial in first1 first2 "second1 -j 2 --oversubscribe" second2 third7; do
    meet $trial --live # shellcheck disable=SC2086
    says 'use the new files'
    # what had run before is stale in the next plan, and what refers to it runs again with it
    ok orch run r.recipe --live
    says_not 'orch:'
    says_not 'inputs changed'
    same "$(values first 2)" '1.5 2.5' "first, after an edit in $trial"
    same "$(values second 2)" '151.5 252.5' "second, after an edit in $trial"
    same "$(values third 1)" '257.5' "third, after an edit in $trial"
    ok orch run r.recipe
    says '5 done before'
done
exit 0
