#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A malicious member writes arbitrary objects under refs/orch/results, and pushes are killed at any time: no valid
# result is harmed, the next push restores what was deleted or replaced, and invalid objects are reported and not passed
# on.
# test: slow timeout=1200
. "$(dirname "$0")/../cli/lib.sh"
unset ORCH_USER
as() {
    local who=$1
    shift
    (cd "$SCRATCH/$who" && ORCH_USER=$who "$@")
}
run() { as "$1" orch run nap.recipe --force >/dev/null 2>&1 || _fail "$1 cannot run"; }
digest() { as "$1" orch db info --json | "$BUILD/json_get" digest; }
HUB=$SCRATCH/hub.git
names() { git -C "$HUB" ls-tree -r --name-only refs/orch/results; }
# force TREE: the hostile member's commit, on top of what is there, with that tree
force() { git update-ref refs/orch/results "$(git commit-tree "$1" -p refs/orch/results -m hostile)"; }

git init -q --bare "$HUB"
for who in ada bob; do
    git clone -q "$HUB" "$SCRATCH/$who" 2>/dev/null
    (cd "$SCRATCH/$who" && sleeps nap 0.001,0.002)
    run $who
    as $who orch push >/dev/null 2>&1 || _fail "$who cannot push"
done
as ada orch pull >/dev/null 2>&1
honest=$(names | sort)
want=$(digest ada)
cd "$HUB"

# junk of every kind beside the honest items
first=$(names | grep ^runs/ | head -1)
blob=$(echo junk | git hash-object -w --stdin)
huge=$(head -c 3000000 /dev/zero | git hash-object -w --stdin)
link=$(printf /etc/passwd | git hash-object -w --stdin)
other=$(git cat-file blob "refs/orch/results:$(names | grep ^runs/ | tail -1)" | git hash-object -w --stdin)
export GIT_INDEX_FILE=$SCRATCH/hostile.index
git read-tree refs/orch/results
fake=01900000-0000-7000-8000-000000000001
add() { git update-index --add --cacheinfo "$1,$2,$3" || _fail "cannot make '$3'"; }
add 100644 "$blob" README
add 100755 "$blob" "runs/01900/01/$fake-0123456789abcdef"
add 120000 "$link" "runs/01900/02/01900000-0000-7000-8000-000000000002-0123456789abcdef"
add 100644 "$blob" "runs/01900/03/01900000-0000-7000-8000-000000000003-0123456789abcdef"
add 100644 "$other" "runs/01900/04/01900000-0000-7000-8000-000000000004-0123456789abcdef"
add 100644 "$huge" "notes/01900/$fake"
add 100644 "$blob" "artifacts/00/$(printf '0%.0s' $(seq 64))"
add 100644 "$blob" "recipes/ab/ab$(printf '0%.0s' $(seq 62))"
add 100644 "$blob" "runs/$(printf 'x%.0s' $(seq 300))"
add 100644 "$blob" 'runs/0190/short'
add 160000 "$(git rev-parse refs/orch/results)" 'datasets/module'
add 100644 "$blob" "sources/$(git rev-parse refs/orch/results)/evil.py"
printf '0 %s\t%s\n' "$blob" "$first" | git update-index --index-info # another's run deleted
second=$(names | grep ^runs/ | sed -n 2p)
git update-index --cacheinfo "100644,$blob,$second" # and one replaced
good=$(git write-tree)
unset GIT_INDEX_FILE
# names that git itself would not write
tree_of() { # tree_of MODE NAME OID: a tree of one entry, whatever its name
    {
        printf '%s %s\0' "$1" "$2"
        printf '%s' "$3" | sed 's/../\\x&/g' | xargs -0 printf '%b'
    } |
        git hash-object -w -t tree --stdin --literally
}
up=$(tree_of 100644 .. "$blob")
dotgit=$(tree_of 40000 .git "$up")
evil=$( (
    git ls-tree "$good"
    printf '040000 tree %s\tzz\n' "$dotgit"
) | git mktree --missing)
force "$evil"

ok as bob orch status
for who in ada bob; do
    fails 7 as $who orch pull
    for what in README 'not a plain file' 'larger than allowed for this kind of file' 'no name of results' \
        'no run of this store has this source tree'; do
        says "$what"
    done
    same "$(digest $who)" "$want" "digest of $who"
    ok as $who orch db check
done
fails 7 as ada orch push
same "$(names | sort)" "$honest" 'items after the next push'
git cat-file blob "refs/orch/results:$second" | grep -q '"digest"' || _fail 'a replaced run did not come back'
ok as bob orch pull
same "$(digest bob)" "$want" 'digest in the end'
ls "$SCRATCH/bob/.orch/results.db.d/objects" 2>/dev/null | grep -q 00 && _fail 'a false artifact was kept'

# a tree that git cannot read at all is not taken
broken=$(printf '100644 short\0abc' | git hash-object -w -t tree --stdin --literally)
keep=$(git rev-parse refs/orch/results)
force "$broken"
fails 3 as ada orch pull
says "cannot fetch from 'origin'"
same "$(digest ada)" "$want"
git update-ref refs/orch/results "$keep"
# emptied by somebody: named, and mended by the next push; never ours, or newer: left alone
force "$(git mktree </dev/null)"
fails 7 as ada orch pull
says 'no longer holds results'
same "$(digest ada)" "$want"
ok as bob orch status
fails 7 as bob orch push
same "$(names | sort)" "$honest" 'items after the ref was emptied'
ok as ada orch pull
keep=$(git rev-parse refs/orch/results)
git update-ref refs/orch/results "$(git commit-tree "$(git mktree </dev/null)" -m stranger)"
fails 3 as ada orch push
says "no 'format'"
git update-ref refs/orch/results "$keep"
newer=$(echo 'orch results 2' | git hash-object -w --stdin)
force "$(printf '100644 blob %s\tformat\n' "$newer" | git mktree)"
fails 3 as ada orch push
says 'newer'
says 'update orch'
git update-ref refs/orch/results "$keep"
ok as ada orch pull

# kills at any instant: nothing is lost, and the next one goes on
cd "$SCRATCH"
for i in $(seq 8); do
    run ada
    as ada timeout -s KILL "0.0$i" orch push >/dev/null 2>&1
    as bob timeout -s KILL "0.0$((9 - i))" orch pull >/dev/null 2>&1
done
ok as ada orch push
ok as bob orch pull
same "$(digest ada)" "$(digest bob)" 'digests after kills'
ok as bob orch db check
ok as bob orch db info --json
same "$(json runs)" 20 'runs after kills'
