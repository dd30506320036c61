#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# test: quick
# On a terminal long output goes through the user's pager, is as wide as COLUMNS says, and coloured or not as the variables
# of other programs say. Elsewhere it is plain text.
. "$(dirname "$0")/../cli/lib.sh"
on() { python3 "$SOURCE/tests/terminal/on_a_terminal.py" 200 "$@"; }
unset PAGER ORCH_PAGER NO_COLOR FORCE_COLOR COLUMNS LESS
export TERM=xterm
ok orch try -x lr=0.1,0.01 -- echo loss={lr}
# ORCH_PAGER before PAGER; 'cat', nothing and --no-pager are none; what is no terminal needs none
export PAGER="sed 's/^/paged /'"
ok on orch ls
has 'paged'
ok env ORCH_PAGER="sed 's/^/own /'" python3 "$SOURCE/tests/terminal/on_a_terminal.py" 200 orch ls
has 'own'
has_not 'paged'
ok on orch ls --no-pager
has_not 'paged'
ok env PAGER=cat python3 "$SOURCE/tests/terminal/on_a_terminal.py" 200 orch ls
has 'lr=0.1'
ok env PAGER= python3 "$SOURCE/tests/terminal/on_a_terminal.py" 200 orch ls
has 'lr=0.1'
ok orch ls
has_not 'paged'
ok on orch help recipes
has 'paged'
ok on orch log @last
has 'paged'
# the status is the command's, also when the user leaves the pager early, and an error is shown by it
fails 3 on orch ls --db none.db
has 'there is no store'
ok env PAGER=true python3 "$SOURCE/tests/terminal/on_a_terminal.py" 200 orch help recipes
ok env PAGER=nosuchpager python3 "$SOURCE/tests/terminal/on_a_terminal.py" 200 orch ls
# commands that run trials, or that print little, have none
ok on orch try -x lr=0.1 -- echo loss={lr}
has_not 'paged'

width() { awk '{ gsub(/\033\[[0-9;]*m/, ""); if (length > w) w = length } END { print w + 0 }' <<<"$out"; }
name=a-name-that-is-much-longer-than-others-are-and-goes-on-for-quite-some-time-without-an-end
ok orch try --name "${name:0:60}" -x "word=$name$name" -- echo {word}
export PAGER=cat
ok on orch ls
wide=$(width)
ok env COLUMNS=100 python3 "$SOURCE/tests/terminal/on_a_terminal.py" 200 orch ls
[ "$(width)" -le 100 ] && [ "$wide" -gt 100 ] || _fail "widths $wide and $(width)"
ok env COLUMNS=100 PAGER='sed s/x/x/' python3 "$SOURCE/tests/terminal/on_a_terminal.py" 200 orch ls
[ "$(width)" -le 100 ] || _fail "width $(width) through the pager"
ok env PAGER='sed s/x/x/' python3 "$SOURCE/tests/terminal/on_a_terminal.py" 200 orch ls
is_wide() { [ "$(width)" -gt 100 ] || _fail "width $(width): $1"; } # not $wide: '9 s ago' may be '10 s ago' now
is_wide 'through the pager'
ok env COLUMNS=100 orch ls
is_wide 'a file has no width'
for wrong in 0 -3 many 1e9 ''; do
    ok env COLUMNS="$wrong" python3 "$SOURCE/tests/terminal/on_a_terminal.py" 200 orch ls
    is_wide "COLUMNS=$wrong"
done

esc=$'\033['
ok orch ls
has_not "$esc"
ok on orch ls
has "$esc"
ok env FORCE_COLOR=1 orch ls
has "$esc"
ok env FORCE_COLOR=0 orch ls
has_not "$esc"
ok env FORCE_COLOR=1 NO_COLOR=1 orch ls
has_not "$esc"
ok env FORCE_COLOR=1 orch ls --color never
has_not "$esc"
