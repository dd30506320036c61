#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# First steps with sharing: messages before any run, for a wrong word or place, for a file in place of a remote, and for
# a removal that was not sent.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
git init -q --bare "$SCRATCH/hub.git"
for who in ada bob; do
    git init -q -b main "$SCRATCH/$who"
    git -C "$SCRATCH/$who" remote add origin "$SCRATCH/hub.git"
    (cd "$SCRATCH/$who" && sleeps nap '0.01, 0.02')
done
cd "$SCRATCH/ada"
export ORCH_USER='Ada <ada@example.org>'

# words of other programs lead to ours
fails 2 orch sync
says "'orch pull' gets"
says "'orch push' sends"
fails 2 orch merge x.db
says 'orch db merge FILE'
fails 2 orch share
says "--share"
fails 2 orch ledger
says "'orch cost'"
fails 2 orch claims
says "'orch coverage RECIPE'"
fails 2 orch bundle
says "'orch export --bundle FILE'"
ok orch --help
has 'push                send this store'

# before any run
fails 3 orch push
says 'there is no store'
says "'orch pull'"
says_not 'what leaves'
ok orch status
has 'none yet'
has 'ahead    0'
has 'behind   0'
ok orch status --json
same "$(json store) $(json runs) $(json behind)" 'null 0 0'
[ -e .orch ] && _fail 'a look made a store'
ok orch run nap.recipe

# nothing is said to leave where nothing can
fails 3 orch push usb
says "there is no remote or folder 'usb'"
says "'mkdir DIR'"
says_not 'what leaves'
fails 3 orch push "$SCRATCH/usb/group"
says 'no folder'
says 'mount the folder'
says_not 'what leaves'
ok orch export --bundle mine.orch
fails 3 orch pull ./mine.orch
says 'is a file'
says 'orch db merge FILE'
fails 3 orch push ./mine.orch
says 'is a file'
fails 3 orch db merge no.orch
says "no file or folder 'no.orch'"
says 'a bundle'
git remote set-url origin ssh://127.0.0.1:1/x.git
fails 3 orch push
says 'it cannot be reached'
says_not 'Please make sure'
says_not 'what leaves'
git remote set-url origin "$SCRATCH/hub.git"
ok orch push
says 'what leaves this machine'
says '2 runs'
for line in "$(sed -n '/what leaves/,/lists every/p' <<<"$err")"; do
    [ "$(wc -L <<<"$line")" -le 90 ] || _fail 'a line is too wide'
done

# in a clone without a store the message says what is there
cd "$SCRATCH/bob"
export ORCH_USER=bob
ok orch status
has 'none yet'
has "behind   2 ('orch pull' gets them)"
has '2 by Ada'
has_not 'ada@'
ok orch pull
says '2 new runs'
ok orch status --json
same "$(json ahead) $(json behind) $(json ahead_notes)" '0 0 0'
case $(json exchanged) in 20*Z) ;; *) _fail 'exchanged is no time' ;; esac

# a removal is to be sent, too; through a folder as well
cd "$SCRATCH/ada"
export ORCH_USER='Ada <ada@example.org>'
ok orch rm @last
ok orch status
has "ahead    0, and 1 note ('orch push' sends them)"
ok orch push
says '0 runs, 1 file'
ok orch status
has 'ahead    0'
has_not 'note'
mkdir group
ok orch status ./group
has 'group, a folder'
has 'ahead    2, and 1 note'
ok orch push ./group
ok orch status ./group
has_not 'note'
fails 2 orch push --dry-run ./group
says 'orch status DIR'

# one file under two names is reported; a folder is no pack
mkdir class
fails 2 orch pack nap.recipe class
says 'is a folder'
ok orch pack nap.recipe class/ada.orch
cp class/ada.orch class/eve.orch
ok orch verify class
has 'same name: '
has 'both are by Ada <ada@example.org>'
has '2 hand-ins: 2 confirmed; signatures: none'
ok orch verify class --json
same "$(json in_common.0.kind) $(json handins.1.copied)" 'same name 0' 'the copy'
