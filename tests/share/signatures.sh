#!/bin/bash
# Runs are signed with an ssh key or GnuPG, as git is configured; signatures are verified, and forged ones found.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
command -v ssh-keygen >/dev/null || skip 'no ssh-keygen (openssh-client)'
sleeps s 0
unset ORCH_USER SSH_AUTH_SOCK
me='Ada Lovelace <ada@example.org>'
git config user.name 'Ada Lovelace'
git config user.email ada@example.org
python() { python3 - "$@" || _fail 'python'; }

# no key: said, and the run is kept
git config gpg.format x509
fails 2 orch run s.recipe -q --sign
says "'x509'"
ok orch ls --json
same "$(json runs.0.state)" ok 'the run'
git config gpg.format ssh
fails 2 orch run s.recipe -q --sign
says "'user.signingKey' is not set"
# asked for by git's configuration alone: a warning
git config orch.sign true
ok orch run s.recipe
says 'warning: nothing was signed'
says 'user.signingKey'
git config user.signingKey "$HOME/nowhere.pub"
ok orch run s.recipe
says 'made no signature'

ssh-keygen -q -t ed25519 -N '' -C ada -f "$HOME/ada"
ssh-keygen -q -t ed25519 -N '' -C eve -f "$HOME/eve"
git config user.signingKey '~/ada.pub'
ok orch run s.recipe --force
says 'signed 2 runs'
ok orch run s.recipe
says_not signed
git config orch.sign false
ok orch run s.recipe --force
says_not signed

# whose key it is, nobody said
ok orch db check --signatures
has 'unknown key'
has 'SHA256:'
says 'signed: 0 of 3 runs'
ok orch show @{1}
has 'signed'
has 'by an unknown key, SHA256:'
ok orch show @last
has_not signed
# the group's list of keys
printf 'ada@example.org namespaces="orch" %s\n' "$(cat "$HOME/ada.pub")" >"$HOME/signers"
git config gpg.ssh.allowedSignersFile '~/signers'
ok orch db check --signatures
has good
has 'ada@example.org'
says 'signed: 2 of 3 runs: 2 by ada@example.org; 1 unsigned'
ok orch db check --signatures --json
same "$(json signed) $(json unsigned) $(json signatures.0.state)" "2 1 good"
ok orch show @{1}
has 'signed'
has 'by ada@example.org'
has_not 'another author'
ok orch show @{1} --json
same "$(json signatures.0.state) $(json signatures.0.fits)" 'good true'
ok orch db check
has 'all well'

# forged: a run that says it is Ada's, signed by Eve
printf 'eve@example.org %s\n' "$(cat "$HOME/eve.pub")" >>"$HOME/signers"
git config user.signingKey '~/eve'
ok orch run s.recipe --sign
says 'signed 1 run'
fails 7 orch db check --signatures
has 'is signed by eve@example.org, but names another author'
says 'signed: 2 of 3 runs'
ok orch show @last
has 'by eve@example.org, but the run names another author'
# a signature over other digests, one that is cut, one that is none, one of another form
cp .orch/results.db good.db
change() { # SQL-EXPRESSION of the text
    cp good.db .orch/results.db
    rm -f .orch/results.db-*
    python "$1" <<'P'
import sqlite3, sys
db = sqlite3.connect(".orch/results.db")
for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'note'").fetchall():
    db.execute(f"DROP TRIGGER {name}")
db.execute(f"UPDATE note SET text = {sys.argv[1]} WHERE kind = 'signature' AND made = (SELECT min(made) FROM note)")
db.commit()
P
}
digest() {
    ok orch show "$1" --json
    json digest
}
one=$(digest @{1}) other=$(digest @last)
change "replace(text, '$one', '$other')"
fails 7 orch db check --signatures
has 'is bad: it does not match'
change "replace(text, 'END SSH', 'END XSH')"
fails 7 orch db check --signatures
has 'is bad'
for text in "'{}'" "'[]'" "''" "NULL" "'{\"format\":1,\"runs\":[],\"signature\":\"x\"}'" \
    "replace(text, '$one', 'zz')" "replace(text, '\"format\":1', '\"format\":2')" \
    "'{\"format\":1,\"runs\":[\"$(printf '[%.0s' $(seq 200))\"],\"signature\":\"x\"}'"; do
    change "$text"
    fails 7 orch db check --signatures
    has 'is bad: it is not a signature'
done
ok orch show @{1}
# a run that was changed: its digest, and with it the signature, is another one's
cp good.db .orch/results.db
rm -f .orch/results.db-*
key=$(
    ok orch show @{1} --json
    json key
)
python "$key" <<'P'
import sqlite3, sys
db = sqlite3.connect(".orch/results.db")
for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
    db.execute(f"DROP TRIGGER {name}")
db.execute("UPDATE run SET wall_ms = wall_ms + 1, digest = replace(digest, substr(digest, 1, 4), 'beef') WHERE key = ?", [sys.argv[1]])
db.commit()
P
fails 7 orch db check --signatures
has 'has another digest here than in signature'
ok orch show @{1}
has 'of another run with the same key'
cp good.db .orch/results.db
rm -f .orch/results.db-*

# a key itself, from an agent
if command -v ssh-agent >/dev/null; then
    eval "$(ssh-agent)" >/dev/null
    ssh-add -q "$HOME/ada"
    git config user.signingKey "key::$(cat "$HOME/ada.pub")"
    ok orch run s.recipe --force --sign
    says 'signed 2 runs' # the one that Eve signed in Ada's name is one of them
    git config --unset user.signingKey
    git config --global gpg.ssh.defaultKeyCommand 'ssh-add -L'
    ok orch run s.recipe --force --sign
    says 'signed 1 run'
    kill "$SSH_AGENT_PID"
    fails 7 orch db check --signatures # Eve's is still there
    says 'signed: 5 of 5 runs: 5 by ada@example.org'
    ok orch show @last
    has 'by ada@example.org'
    git config --global --unset gpg.ssh.defaultKeyCommand
fi

# signatures travel with the runs; the other one judges them by a list of keys of its own
git init -q --bare "$SCRATCH/group.git"
git config gpg.ssh.allowedSignersFile '~/signers'
git config user.signingKey '~/ada'
ok orch run s.recipe --force
ok orch push "$SCRATCH/group.git"
says_not signed
ok orch push --dry-run --sign "$SCRATCH/group.git"
says_not signed
ok orch push --sign "$SCRATCH/group.git"
says 'signed 1 run'
mkdir "$SCRATCH/other"
cd "$SCRATCH/other"
git init -q .
git config user.name Bob
git config user.email bob@example.org
ok orch pull "$SCRATCH/group.git"
ok orch show @last
has 'an unknown key'
git config gpg.ssh.allowedSignersFile '~/signers'
ok orch show @last
has 'by ada@example.org'
has_not 'another author'
# a shared run sends its signature with its results
cd "$SCRATCH/w"
ok orch run s.recipe --force --share --remote "$SCRATCH/group.git" --sign
says 'signed 1 run'
cd "$SCRATCH/other"
ok orch pull "$SCRATCH/group.git"
says '1 new run'
ok orch show @last
has 'by ada@example.org'
cd "$SCRATCH/w"

command -v gpg >/dev/null || skip 'ssh keys are well; no gpg (gnupg)'
export GNUPGHOME=$SCRATCH/gpg
mkdir -m 700 "$GNUPGHOME"
git config gpg.format openpgp
git config --unset user.signingKey
gpg --batch --quiet --passphrase '' --quick-generate-key "$me" ed25519 sign never 2>/dev/null || skip 'ssh keys are well; gpg makes no key here'
ok orch run s.recipe --force --sign
says 'signed 1 run'
ok orch show @last
has 'by Ada Lovelace <ada@example.org>'
mv "$GNUPGHOME" "$GNUPGHOME.away"
mkdir -m 700 "$GNUPGHOME"
ok orch show @last
has 'an unknown key'
gpgconf --kill all
GNUPGHOME=$GNUPGHOME.away gpgconf --kill all
# no program to ask
git config --global gpg.program "$SCRATCH/nothing"
fails 3 orch db check --signatures
says 'cannot start'
ok orch show @last
has 'cannot be checked here'
