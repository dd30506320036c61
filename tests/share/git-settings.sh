#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Programs that a repository's own .git/config names for signing, pushing and pulling are not run, and a message says
# where; programs of the user's own configuration are run.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
sleeps naps 0.01
git add -A
git commit -qm one
ok orch run naps.recipe -q
git init -q --bare ../hub.git
mkdir ../bin2
for name in evil own; do
    printf '#!/bin/sh\necho "$0 $*" >>"%s/%s"\ncase "$1" in verify-commit|--*) ;; esac\nexit 1\n' "$SCRATCH" "mark-$name" >"../bin2/$name"
    chmod +x "../bin2/$name"
done
evil=$SCRATCH/bin2/evil own=$SCRATCH/bin2/own
untouched() { [ ! -e "$SCRATCH/mark-evil" ] || _fail "$1 ran a program of the repository's: $(cat "$SCRATCH/mark-evil")"; }
git remote add origin ../hub.git
ok orch push
for setting in gpg.program gpg.openpgp.program gpg.ssh.program gpg.ssh.defaultKeyCommand core.sshCommand credential.helper core.askPass \
    core.fsmonitor core.gitProxy core.alternateRefsCommand remote.origin.uploadpack remote.origin.receivepack; do
    git config $setting "$evil"
done
git config credential.https://example.org.helper "!$evil"
cp "$evil" ../bin2/pre-push
cp "$evil" ../bin2/reference-transaction
git config core.hooksPath "$SCRATCH/bin2"
git config protocol.ext.allow always
git config protocol.allow always
git config orch.sign true

# a remote of this machine
ok orch run naps.recipe -q --force
untouched run
_run orch push
untouched push
for name in core.sshcommand credential.helper credential.https://example.org.helper core.askpass remote.origin.uploadpack remote.origin.receivepack \
    protocol.allow protocol.ext.allow gpg.program gpg.ssh.program; do
    says "git's '$name' is ignored"
    says "git config --global $name"
done
git config orch.sign false
ok orch push
untouched push
ok orch pull
untouched pull
same "$(git -C ../hub.git log --oneline refs/orch/results | wc -l | tr -d ' ')" 2 'the pushes that came'
ok orch status
untouched status
for command in ls 'show @last' verify 'coverage naps.recipe'; do
    _run orch $command
    untouched "$command"
done
ok orch doctor
untouched doctor
has "'core.sshcommand' of the repository's own settings is not followed"

# one over ssh, one that is a command
git remote set-url origin ssh://nobody@localhost:1/x.git
fails 3 timeout 300 orch pull
untouched 'pull over ssh'
git remote set-url origin "ext::$evil x"
fails 3 orch pull
untouched 'pull over ext'
says "'ext'"
git remote set-url origin git://localhost:1/x.git
fails 3 timeout 300 orch pull
untouched 'pull over git'
git config remote.origin.vcs evil
PATH=$SCRATCH/bin2:$PATH
cp "$evil" ../bin2/git-remote-evil
fails 3 orch pull
untouched 'pull with a helper'
says "git's 'remote.origin.vcs' is ignored"
git config --unset remote.origin.vcs

# the user's own are run
git remote set-url origin ssh://nobody@localhost:1/x.git
git config --global core.sshCommand "$own"
fails 3 orch pull
untouched 'pull over ssh'
grep -q 'nobody@localhost' "$SCRATCH/mark-own" || _fail "the user's own ssh was not run"
rm "$SCRATCH/mark-own"
git config --global gpg.program "$own"
git config --global user.signingKey k
git config --unset gpg.openpgp.program
git remote set-url origin ../hub.git
git config orch.sign true
ok orch run naps.recipe -q --force
_run orch push
untouched push
[ -e "$SCRATCH/mark-own" ] || _fail "the user's own gpg was not run"
