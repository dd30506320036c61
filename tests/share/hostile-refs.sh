#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Refs that a malicious member may write: results that are not commits, nested or wide trees, deltas that expand to
# millions of entries, and thousands of claims with any text that end in the year 2262.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
HUB=$SCRATCH/hub.git
git init -q --bare "$HUB"
cat >job.plugin <<'Y'
plugin: job
version: 1.0.0
command: [sh, job.sh]
metrics_from: lines
parameters:
  lr: {type: real, default: 0.1}
metrics:
  final: {better: max}
Y
echo 'echo final 0.5' >job.sh
cat >r.recipe <<'R'
format: 1
recipe: r
experiments:
  tune: { plugin: ./job.plugin, reuse: any, inputs: [job.sh], sweep: { lr: [0.01, 0.1] } }
R
git add -A
git commit -qm one
git remote add origin "$HUB"
ok orch run r.recipe -q
ok orch push
digest() {
    ok orch db info --json
    json digest
}
want=$(digest)
good=$(git -C "$HUB" rev-parse refs/orch/results)
base=$(git -C "$HUB" rev-parse 'refs/orch/results^{tree}')
hub() { git -C "$HUB" "$@"; }
blob=$(echo junk | hub hash-object -w --stdin)
force() { hub update-ref --no-deref refs/orch/results "$1"; }
commit() { hub commit-tree "$1" -p "$good" -m $'\e[2Jhostile\e]0;x\a'; }
plain() { case $out$err in *$'\e'* | *$'\a'*) _fail 'an escape sequence' ;; esac }
# after pull and push: nothing lost, nothing hung; NAME STATUS WORDS
withstands() {
    fails "$2" timeout 300 orch pull
    says "$3"
    plain
    _run timeout 300 orch push
    [ $status = "$2" ] || _fail "status $status of push: $1"
    plain
    same "$(digest)" "$want" "digest after $1"
}
for what in "$blob" "$base" \
    "$(printf 'object %s\ntype commit\ntag x\ntagger a <b> 0 +0000\n\n\033[2Jhi\n' "$good" | hub mktag)" \
    "$(printf 'object %s\ntype blob\ntag x\ntagger a <b> 0 +0000\n\n\033[2Jhi\n' "$blob" | hub mktag)"; do
    force "$what"
    withstands 'a ref to no commit' 3 'is not a results commit'
done
deep=$(printf '100644 blob %s\tx\n' "$blob" | hub mktree) fold=$deep
for i in $(seq 200); do deep=$(printf '040000 tree %s\ta\n' "$deep" | hub mktree); done
for i in $(seq 8); do fold=$(for j in $(seq 0 9); do printf '040000 tree %s\td%s\n' "$fold" "$j"; done | hub mktree); done
wide=$(python3 -c 'import sys
for i in range(20000): print(f"100644 blob {sys.argv[1]}\tf{i:07d}")' "$blob" | hub mktree)
for tree in "$deep" "$fold" "$wide"; do
    for folder in runs sources; do
        force "$(commit "$( (
            hub ls-tree "$base" | grep -v "	$folder$"
            printf '040000 tree %s\t%s\n' "$tree" "$folder"
        ) | hub mktree)")"
        withstands "a tree as $folder" 7 "warning: '"
    done
done
force "$(commit "$( (
    hub ls-tree -z "$base"
    printf '100644 blob %s\tz\033[2J\nfoo\342\200\256\0' "$blob"
) | hub mktree -z)")"
withstands 'a name of controls' 7 'z?[2J foo???'
force "$good"
ok orch pull
ok orch push

# claims: 2,000 refs to a run's commit, and texts of every kind for the very trials that are asked for
python3 - "$good" <<'P' | hub update-ref --stdin
import hashlib, sys
for i in range(2000): print("create refs/orch/claims/" + hashlib.sha256(str(i).encode()).hexdigest(), sys.argv[1])
P
# of the trials of another sweep, which nobody has run
aim() {
    ok orch coverage r.recipe -x "lr=$1" --json
    fingerprints=$(python3 -c 'import json, sys; print(*[t["fingerprint"] for t in json.load(sys.stdin)["trials"]])' <<<"$out")
}
claims() {
    python3 - "$HUB" "$1" $fingerprints <<'P'
import hashlib, json, subprocess, sys
hub, kind, *prints = sys.argv[1:]
def git(*args, text=""): return subprocess.run(["git", "-C", hub, *args], input=text.encode(), capture_output=True, check=True).stdout.decode().strip()
tree = git("mktree")
for print_ in prints:
    claim = {"format": 1, "id": "x", "fingerprint": print_, "device_key": None, "who": "\x1b[2Jeve\u202e\nx", "host": "\x9bh", "made": 1, "expires": 2**63 - 1}
    if kind == "huge": claim["who"] = "e" * 5000000
    if kind == "deep": text = "[" * 50000
    elif kind == "types": text = json.dumps({k: [v] for k, v in claim.items()})
    elif kind == "past": text = json.dumps(dict(claim, made=2**63 - 1, expires=0))
    else: text = json.dumps(claim)
    commit = git("hash-object", "-t", "commit", "-w", "--stdin", text=f"tree {tree}\nauthor \x1b[2J <a> 0 +0000\ncommitter a <a> 0 +0000\n\n{text}\n")
    git("update-ref", "refs/orch/claims/" + hashlib.sha256(b"trial " + print_.encode()).hexdigest(), commit)
P
}
lr=1
for kind in huge deep types past; do
    lr=$((lr + 1))
    aim $lr
    claims $kind || _fail "no claims: $kind"
    ok timeout 300 orch coverage r.recipe -x lr=$lr
    plain
    has '1 missing'
    ok timeout 300 orch run r.recipe -x lr=$lr --share
    plain
    says '1 ok'
done
aim 20
claims far || _fail 'no claims'
ok timeout 300 orch coverage r.recipe -x lr=20
plain
has '?[2Jeve??? x'
has '1 claimed'
ok timeout 300 orch coverage r.recipe -x lr=20 --json
plain
same "$(json trials.0.claim.host)" '??h'
# one that never ends counts as made when it was first seen: it is over after a claim's time
export ORCH_CLAIM_S=1
ok timeout 300 orch run r.recipe -x lr=20 --share --wait
plain
ok orch db check
