#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The output of a plugin during a run, and an artifact printed on a terminal: no control sequence is executed, and no
# text is hidden.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
cat >loud.plugin <<'Y'
plugin: loud
version: 1.0.0
about: "says \e[2J much"
command: [sh, loud.sh]
metrics: any
artifacts:
  out: out.txt
Y
cat >loud.sh <<'S'
printf '{"event":"phase","name":"\\u001b]0;title\\u0007 \\u200bhidden\\u202egnp \\udb40\\udc41"}\n' >&$ORCH_EVENTS
until grep -q hidden "$HOME/../out"; do sleep 0.05; done # the terminal shows it
printf '\033[2Jred\033[0m\342\200\213\n' >out.txt
printf '{"event":"artifact","name":"out","path":"out.txt"}\n{"event":"done","status":"ok"}\n' >&$ORCH_EVENTS
S
cat >r.recipe <<'R'
format: 1
recipe: r
experiments:
  one: { plugin: ./loud.plugin }
R
git add -A
git commit -qm one
plain() { # nothing of the plugin's that a terminal obeys or hides is in the last output
    local text=$out$err
    for bad in $'\e]0' $'\a' $'\e[2J' $'\xe2\x80\x8b' $'\xe2\x80\xae' $'\xf3\xa0\x81\x81'; do
        case $text in *"$bad"*) _fail "$1: $(printf %q "$bad")" ;; esac
    done
}
ok terminal orch run r.recipe
plain 'the live block'
has 'hidden'
ok orch show @last -a out
has $'\e[2J' # whole to a file or a pipe
out=$(python3 -c 'import pty, sys; pty.spawn(sys.argv[1:])' orch show @last -a out </dev/null) err=
plain 'show -a'
has red
ok orch plugin show ./loud.plugin
plain 'plugin show'
has much
ok orch show @last --json
