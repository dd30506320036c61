#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Two 'orch pull' of one clone at once, and a git process that briefly locks a ref: each waits for the other.
# test: slow timeout=2700
. "$(dirname "$0")/../cli/lib.sh"
git init -q --bare ../hub.git
sleeps nap 0.001
git add -A
git commit -qm one
git remote add origin ../hub.git
ok orch run nap.recipe -q
ok orch push
ok orch pull
tracking=$(git for-each-ref --format='%(refname)' refs/orch | grep -v '^refs/orch/\(results\|keep\|trees\)' | head -1)
[ -n "$tracking" ] || _fail "no tracking ref among $(git for-each-ref --format='%(refname)' refs/orch)"
for ref in "$tracking" refs/orch/results; do
    # somebody else has something new, so that both refs move
    rm -rf ../other
    git clone -q ../hub.git ../other 2>/dev/null
    cp nap.recipe ../other
    (cd ../other && orch run nap.recipe --force -q && orch push -q) >/dev/null 2>&1 || _fail 'no news'
    touch ".git/$ref.lock"
    (
        sleep 0.3
        rm ".git/$ref.lock"
    ) &
    ok orch pull
    wait
    says '1 new run'
done
rm -rf ../other
git clone -q ../hub.git ../other 2>/dev/null
cp nap.recipe ../other
(cd ../other && orch run nap.recipe --force -q && orch push -q) >/dev/null 2>&1 || _fail 'no news'
for i in 1 2 3 4; do
    orch pull >"../pull$i" 2>&1 &
    pids[i]=$!
done
for i in 1 2 3 4; do wait "${pids[i]}" || _fail "pull $i: $(cat "../pull$i")"; done
ok orch ls -n 0 --json
same "$(python3 -c 'import json, sys; print(len(json.load(sys.stdin)["runs"]))' <<<"$out")" 4 runs
