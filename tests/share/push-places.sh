#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Remotes of every kind, and the errors of those that cannot be used.
# test: slow timeout=1200
. "$(dirname "$0")/../cli/lib.sh"
HUB=$SCRATCH/hub.git
digest() { (cd "$1" && orch db info --json) | "$BUILD/json_get" digest; }
sleeps nap 0.001
ok orch run nap.recipe

# no remote, an unknown one, nowhere to be reached
fails 3 orch push
says 'has no remote'
says 'git remote add origin'
fails 3 orch status
has 'remote   none'
fails 3 orch push nobody
says "there is no remote or folder 'nobody'"
fails 3 orch push "$SCRATCH/absent.git"
says 'no git repository'
fails 3 orch push https://127.0.0.1:1/x.git
says 'cannot fetch'
says 'it cannot be reached'
fails 3 orch pull ssh://127.0.0.1:1/x.git
says 'cannot fetch'
fails 2 orch push --upload-pack=x
fails 2 orch push --artifacts some
git remote add one "$HUB" && git remote add two "$HUB"
fails 3 orch push
says 'has several remotes'
git init -q --bare -b main "$HUB"
git config orch.remote two
ok orch push --json
same "$(json remote)" two
git config --unset orch.remote
git remote remove two
ok orch push --json
same "$(json remote)" one
fails 3 orch push onn
says "did you mean 'one'"
want=$(digest .)

# a hook on the server declines
ok orch run nap.recipe --force
printf '#!/bin/sh\necho not today >&2\nexit 1\n' >"$HUB/hooks/pre-receive" && chmod +x "$HUB/hooks/pre-receive"
fails 3 orch push
says 'hook'
says 'not today'
rm "$HUB/hooks/pre-receive"
# hooks here are not run
printf '#!/bin/sh\ntouch "%s/hooked"\nexit 1\n' "$SCRATCH" >.git/hooks/pre-push
cp .git/hooks/pre-push .git/hooks/reference-transaction
chmod +x .git/hooks/pre-push .git/hooks/reference-transaction
ok orch push
[ ! -e "$SCRATCH/hooked" ] || _fail 'a hook was run'
rm .git/hooks/pre-push .git/hooks/reference-transaction
want=$(digest .)

# read-only: pull works, push says so. root may write anywhere, so it becomes somebody else for this
plain=
[ "$(id -u)" != 0 ] || plain='setpriv --reuid=65534 --regid=65534 --clear-groups'
if [ -z "$plain" ] || $plain true 2>/dev/null; then
    git clone -q "$HUB" "$SCRATCH/reader"
    cp nap.recipe "$SCRATCH/reader"
    if [ "$plain" ]; then
        chmod 755 "$SCRATCH"
        chown -R 65534 "$SCRATCH/reader" "$HOME" "$SCRATCH/cache" "$SCRATCH/share" 2>/dev/null
        printf '[safe]\n\tdirectory = *\n' >"$HOME/.gitconfig"
    fi
    cd "$SCRATCH/reader"
    chmod -R a-w "$HUB"
    ok $plain orch pull
    ok $plain orch run nap.recipe --force
    fails 3 $plain orch push
    says 'no permission to write there'
    says 'ask its owner for write access'
    chmod -R u+w "$HUB"
    rm -f "$HOME/.gitconfig"
    cd "$SCRATCH/w"
fi

# a shallow clone, a linked work tree, a repository with settings that libgit2 does not know
git add nap.recipe && git commit -qm one && git commit -q --allow-empty -m two && git push -q one main
git clone -q --depth 1 "file://$HUB" "$SCRATCH/shallow"
git worktree add -q "$SCRATCH/linked" -b linked
git clone -q "$HUB" "$SCRATCH/odd"
git -C "$SCRATCH/odd" config core.repositoryFormatVersion 1
git -C "$SCRATCH/odd" config extensions.worktreeConfig true
for place in shallow linked odd; do
    cd "$SCRATCH/$place"
    ok orch pull
    same "$(digest .)" "$want" "digest in $place"
    ok orch run nap.recipe --force
    ok orch push
    want=$(digest .)
done
[ -e "$SCRATCH/shallow/.git/shallow" ] || _fail 'the shallow clone is shallow no more'

# outside any repository: a URL is enough; and a bare one as the place
mkdir "$SCRATCH/nowhere" && cd "$SCRATCH/nowhere"
fails 3 orch pull
says 'has no remote'
ok orch pull "$HUB"
same "$(digest .)" "$want" 'digest outside a repository'
[ -d .orch/results.db.d/exchange.git ] || _fail 'no private repository'
ok orch pull "$HUB"
says 'nothing new'

# ids of 64 digits: said, with a way out
if git init -q --object-format=sha256 "$SCRATCH/wide" 2>/dev/null; then
    cd "$SCRATCH/wide"
    fails 3 orch pull "$HUB"
    says 'sha256'
    says 'orch push DIR'
fi

# a plain folder is a remote, too
mkdir "$SCRATCH/folder"
cd "$SCRATCH/odd"
ok orch push "$SCRATCH/folder"
cd "$SCRATCH/nowhere"
ok orch pull "$SCRATCH/folder"
same "$(digest .)" "$want" 'digest through a folder'
