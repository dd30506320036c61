#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Three clones push to and pull from the group's git remote in turns and end with equal digests. The users' repositories
# are not changed, simultaneous pushes all succeed, and a clone whose store is lost restores it.
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
# all of a repository that push and pull must leave alone
state() { as "$1" bash -c 'git status --porcelain --untracked-files=all; git branch -av; git tag; git rev-parse HEAD
    git symbolic-ref HEAD; sha256sum .git/index; git stash list; git for-each-ref refs/heads refs/tags refs/remotes
    ls .git; cat .git/config'; }

git init -q --bare "$SCRATCH/hub.git"
for who in ada bob cyd; do
    git clone -q "$SCRATCH/hub.git" "$SCRATCH/$who" 2>/dev/null
    cd "$SCRATCH/$who"
    git checkout -q -b main 2>/dev/null || true
    sleeps nap 0.001,0.002
    echo "of $who" >own.txt
    git add . && git commit -q -m "by $who"
done
as ada git push -q origin main

# an empty remote: nothing to get; then the first push says what leaves, once
ok as ada orch pull
says 'nothing new'
run ada
ok as ada orch status --json
same "$(json ahead)" 2 'runs to send'
same "$(json behind)" 0
ok as ada orch push
says 'what leaves this machine'
says '2 runs'
ok as ada orch push
says_not 'what leaves'
says 'has everything'
same "$(git -C "$SCRATCH/hub.git" for-each-ref --format='%(refname)' refs/orch)" refs/orch/results 'refs of the remote'

# bob has his own, gets hers and sends his
run bob
ok as bob orch status
has 'ahead    2'
has 'behind   2'
has '2 by ada'
ok as bob orch pull
has 'ada'
says '2 new runs'
ok as bob orch push --json
same "$(json sent_runs)" 2 'sent'
ok as ada orch status --offline
has 'behind   0'
ok as ada orch status
has 'behind   2'

# with a dirty index and work tree, a stash, a tag, a detached and a rebased branch
cd "$SCRATCH/ada"
echo more >>own.txt && git stash -q
echo staged >staged.txt && git add staged.txt
echo changed >>own.txt
echo untracked >untracked.txt
git tag mine
before=$(state ada)
ok as ada orch pull
ok as ada orch push
same "$(state ada)" "$before" "ada's repository"
[ ! -e "$SCRATCH/ada/.git/FETCH_HEAD" ] || _fail 'FETCH_HEAD was written'
git -C "$SCRATCH/ada" fsck --no-dangling >/dev/null 2>&1 || _fail 'fsck of the clone'
cd "$SCRATCH/bob"
git fetch -q && git rebase -q origin/main --strategy-option=theirs 2>/dev/null || git rebase --abort 2>/dev/null
git checkout -q --detach
run bob
before=$(state bob)
ok as bob orch push origin
same "$(state bob)" "$before" "bob's repository"
cd "$SCRATCH/bob" && git checkout -q main

# several at once: all come through
ok as cyd orch pull
for round in 1 2; do
    for who in ada bob cyd; do run $who; done
    pids=
    for who in ada bob cyd; do
        as $who orch push >"$SCRATCH/push.$who" 2>&1 &
        pids="$pids $!"
    done
    for pid in $pids; do wait "$pid" || _fail "a push failed: $(cat "$SCRATCH"/push.*)"; done
done
for who in ada bob cyd; do
    ok as $who orch pull
    ok as $who orch db check
done
same "$(digest ada)" "$(digest bob)" 'digests of ada and bob'
same "$(digest ada)" "$(digest cyd)" 'digests of ada and cyd'
ok as ada orch db info --json
same "$(json runs)" 18 'runs of all'
same "$(git -C "$SCRATCH/hub.git" ls-tree -r --name-only refs/orch/results runs/ | wc -l)" 18 'runs at the remote'
ok as ada orch status --json
same "$(json ahead) $(json behind)" '0 0' 'ahead and behind'

# a removal travels; a lost store is had again from what the clone holds, without the remote
want=$(digest cyd)
rm -rf "$SCRATCH/cyd/.orch"
ok as cyd orch pull
says '18 new runs'
same "$(digest cyd)" "$want" 'digest after a lost store'
key=$(as bob orch ls --json --where 'who = bob' | "$BUILD/json_get" runs.0.key)
ok as bob orch rm "$key"
ok as bob orch push
ok as ada orch pull
says '1 removal'
ok as ada orch db info --json
same "$(json removed)" 1 'removed by its author'

# only some; by path; by URL; and the rest later
run cyd
ok as cyd orch push "$SCRATCH/hub.git" --where 'seconds < 0.0015' --json
same "$(json sent_runs)" 1 'chosen by --where'
ok as cyd orch push "file://$SCRATCH/hub.git" --json
same "$(json sent_runs)" 1 'the rest'

# removed at the remote by somebody: the next push brings it all back
as bob git push -q origin :refs/orch/results
run bob
ok as bob orch push
same "$(git -C "$SCRATCH/hub.git" ls-tree -r --name-only refs/orch/results runs/ | wc -l)" 20 'runs after the ref was removed'
ok as cyd orch push
same "$(git -C "$SCRATCH/hub.git" ls-tree -r --name-only refs/orch/results runs/ | wc -l)" 22 'of all'
git -C "$SCRATCH/hub.git" fsck --strict >/dev/null 2>&1 || _fail 'fsck of the remote'

# artifacts: up to the sender's limit, kept up to the receiver's, passed on in any case
cd "$SCRATCH/ada"
printf 'import sys\nopen("small", "w").write("s" * 10)\nopen("medium", "w").write("m" * 100000)\nopen("large", "w").write("l" * 5000000)\n' >make.py
ok as ada orch try --artifact small=small --artifact medium=medium --artifact large=large -- python3 make.py
objects() { git -C "$SCRATCH/hub.git" ls-tree -r --name-only refs/orch/results artifacts/ | wc -l; }
ok as ada orch push --artifacts 1KiB
same "$(objects)" 1 'artifacts of up to 1 KiB'
ok as ada orch push
same "$(objects)" 2 'artifacts of up to 4 MiB'
ok as ada orch push --artifacts all
same "$(objects)" 3 'all artifacts'
ok as bob orch pull --artifacts none
run bob
ok as bob orch push
same "$(objects)" 3 'artifacts after one who keeps none'
as bob find .orch/results.db.d/objects -type f 2>/dev/null | grep -q . && _fail 'bob keeps an artifact'
ok as cyd orch pull
same "$(as cyd find .orch/results.db.d/objects -type f -size -5000k | wc -l)" 2 'artifacts of cyd'
