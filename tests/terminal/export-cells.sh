#!/bin/bash
# 'orch export' on a terminal prints no control sequences of a store's texts; pipes and files receive the bytes
# unchanged. --safe-csv puts an apostrophe before texts that a spreadsheet would evaluate.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
cat >word.plugin <<'Y'
plugin: word
command: ['true']
parameters: { word: { type: string }, number: { type: real, default: -1.5 } }
metrics: { seen: none }
Y
cat >w.recipe <<'R'
format: 1
recipe: w
experiments:
  e:
    plugin: ./word.plugin
    sweep: { word: ["\e[2Jred\e[0m", "\e]0;title\a", "\u202egnp \u200bhidden", "\u009b31m", "=1+1", "+1+1", "-cmd|' /C calc'!A0", "@SUM(1)", "\t=1", "-5", "+.5e3", "plain", "a\r\nb"] }
R
ok orch run w.recipe
plain() {
    for bad in $'\e' $'\a' $'\xe2\x80\x8b' $'\xe2\x80\xae' $'\xc2\x9b'; do
        case $out$err in *"$bad"*) _fail "$1: $(printf %q "$bad")" ;; esac
    done
}
shown() {
    out=$(python3 -c 'import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)' "$@" </dev/null) || _fail "$* failed"
    err=
}
shown orch export -c word,number
plain 'csv'
has 'red'
has 'plain'
has '?'
shown orch export -c word --format json
plain 'json'
has '\u202e'
has '\u001B'
same "$(python3 -c 'import json, sys; print(sum("\u202e" in row["word"] for row in json.loads(sys.stdin.read())))' <<<"$out")" 1 'texts that decode to the same'
shown orch export -c word --format jsonl
plain 'jsonl'
shown orch export -c word --what points
plain 'points'
# in a pipe and in a file
ok orch export -c word,number
has $'\e[2Jred'
has $'\xe2\x80\xae'
has $'\n=1+1,-1.5'
ok orch export -c word,number -o t.csv
same "$(tr -d '\r' <t.csv)" "$(orch export -c word,number | tr -d '\r')" 'file and pipe'
# formulas
ok orch export -c word,number --safe-csv
for text in '=1+1' '+1+1' "-cmd|' /C calc'!A0" '@SUM(1)' $'\t=1'; do has $'\n'"'$text,-1.5"; done
for text in -5 +.5e3 plain; do has $'\n'"$text,-1.5"; done
ok orch export -c word --safe-csv -o t.csv
same "$(grep -c "^'" t.csv)" 5 'texts with an apostrophe'
fails 2 orch export --safe-csv --format json
says "option '--safe-csv' needs '--format csv'"
fails 2 orch export --safe-csv --bundle b.orch
says '--safe-csv'
ok orch help export
has '--safe-csv'
