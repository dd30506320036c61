#!/bin/bash
# Texts of other people in the sentences that commands print are cleaned, as those in tables are.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
evil=$'\e]0;title\a\xe2\x80\xae'
cat >m.plugin <<Y
plugin: m
command: [sh, -c, 'echo seen 1']
parameters: { word: { type: string } }
metrics: { seen: max }
Y
printf 'format: 1\nrecipe: r\nexperiments:\n  e: { plugin: ./m.plugin, sweep: { word: ["\\e]0;title\\a\\u202e", "b"] }, repeat: 3 }\n' >r.recipe
ok orch run r.recipe --who "x${evil}y"
plain() {
    for bad in $'\e' $'\a' $'\xe2\x80\xae'; do
        case $out$err in *"$bad"*) _fail "$1: $(printf %q "$bad")" ;; esac
    done
}
for command in 'best seen' 'ls' 'show @last' 'compare r r' 'cost r.recipe' 'coverage r.recipe' 'status' 'db info' 'table seen' 'plan r.recipe' 'config r.recipe' 'diff @last @{1}'; do
    _run orch $command
    plain "$command"
done
printf 'gpu,words,y\na,1,2\nb,2,3\n' >d.csv
_run orch import d.csv --name n --target y
plain import
