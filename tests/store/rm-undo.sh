#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# 'orch rm --undo' restores a removed run: the user's own for everybody, another user's in this store only; and who may
# undo which removal.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
unset ORCH_USER
as() {
    local who=$1
    shift
    (cd "$SCRATCH/$who" && ORCH_USER=$who "$@")
}
git init -q --bare "$SCRATCH/hub.git"
for who in ada bob; do
    git init -q -b main "$SCRATCH/$who"
    git -C "$SCRATCH/$who" remote add origin "$SCRATCH/hub.git"
    (cd "$SCRATCH/$who" && sleeps nap '0.01, 0.02')
done
removed() {
    ok as "$1" orch db info --json
    json removed
}

ok as ada orch run nap.recipe
ok as ada orch push
ok as bob orch pull
ok as bob orch ls --json
run=$(json runs.0.key)

# of somebody else's run: only in this store, and back
ok as bob orch rm "$run" --reason 'I doubt it'
says 'made by ada: only in this store'
ok as bob orch show "$run"
has '(removed)'
has 'by bob'
has 'only in this store: I doubt it'
has "orch rm --undo ${run: -8}"
ok as bob orch run nap.recipe
says '1 missing'
ok as bob orch push
ok as ada orch pull
same "$(removed ada)" 0 'what bob hid for himself'
ok as bob orch rm --undo "$run"
says "restored run ${run: -8}"
ok as bob orch show "$run" --json
same "$(json removed) $(json removal)" 'false null' 'restored'
fails 2 as bob orch rm --undo "$run"
says 'is not a removed run'
says 'orch ls --all'

# one's own: for everybody, and back for everybody
ok as ada orch rm "$run" --reason 'wrong data'
ok as ada orch push
ok as bob orch pull
says '1 removal'
same "$(removed bob)" 1 'removed by its author'
ok as bob orch show "$run"
has 'by ada'
has 'wrong data'
has 'ada alone can bring it back'
ok as bob orch show "$run" --json
same "$(json removal.who) $(json removal.reason) $(json removal.public)" 'ada wrong data true' 'removal'
fails 2 as bob orch rm --undo "$run"
says 'removed by its author ada'
says "orch rm --undo ${run: -8}"
same "$(removed bob)" 1 'still removed'
ok as ada orch rm --undo "$run"
ok as ada orch push
ok as bob orch pull
says '1 run brought back'
same "$(removed ada) $(removed bob)" '0 0' 'brought back'

# and once more; a typo among several changes nothing
ok as ada orch rm "$run"
fails 2 as ada orch rm --undo "$run" ffffffff
same "$(removed ada)" 1 'with a typo'
ok as ada orch push
ok as bob orch pull
same "$(removed bob)" 1 'removed again'
for who in ada bob; do ok as $who orch db check; done
