#!/bin/bash
# Completion in bash, zsh and fish offers the names of runs and plugins. No text from a store, a plugin or a file name
# is interpreted by the shell.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
evil='$(touch${IFS}PWNED)`touch${IFS}PWNED2`'
git commit -q --allow-empty -m empty
git checkout -q -b 'b$(touch${IFS}PWNED)'
cat >mine.plugin <<'Y'
plugin: mine
version: 1.0.0
about: 'mine $(touch PWNED) `touch PWNED2` ; touch PWNED & | < > * ? [x] { } ~ ! # " \ $HOME'
command: ['true']
parameters: { word: { type: string } }
metrics: { seen: none }
Y
cp mine.plugin "x$evil.plugin"
sed 's/^plugin: mine/plugin: "y$(touch${IFS}PWNED)"/' mine.plugin >y.plugin
cat >t.recipe <<'R'
format: 1
recipe: t
experiments:
  e:
    plugin: ./mine.plugin
    sweep: { word: ['$$(touch$${IFS}PWNED)', '`touch$${IFS}PWNED`', ';touch PWNED;', "'", '"', '*', '~', '!!', '#', '\', '{a,b}', '<x', '>PWNED', '|touch PWNED', '&touch PWNED&', "a\nb\tc"] }
R
ok orch run t.recipe --who "$evil"
ok orch name @last base
ok orch ls --format tsv
has 'PWNED'
mapfile -t keys < <(tail -n +2 <<<"$out" | cut -f1)
first=${keys[0]}
second=${keys[1]}
fails 2 orch name "$second" "z$evil"  # no label has quotes or parentheses, ...
ok orch name "$second" 'z${IFS}$HOME' # ... but a dollar

# the listing that the scripts read
ok orch completion runs
has "$first"
has '@last'
has 'base'
has_not 'IFS'
has_not 'e word'
same "$(grep -vcE '^(@last|[A-Za-z0-9][A-Za-z0-9_.-]*)$' <<<"$out")" 0 'lines that are no plain name'
same "$(wc -l <<<"$out")" 18 'lines: 16 keys, a name, @last'
ok orch completion plugins
has 'mine'
has 'vecadd'
has_not 'PWNED'
has_not '1.0.0'
same "$(grep -vcE '^[A-Za-z0-9][A-Za-z0-9_.-]*$' <<<"$out")" 0 'lines that are no plain name'
(
    mkdir "$SCRATCH/empty"
    cd "$SCRATCH/empty"
    ok orch completion runs
    same "$out$err" '' 'without a store'
) || exit 1
ok orch completion bash
has_not 'compgen -W'

clean() { [ -z "$(find "$SCRATCH" -name 'PWNED*')" ] || _fail "$1: Tab ran a command that stood in a row"; }
shown() {
    _run python3 "$SOURCE/tests/cli/tab.py" "$@"
    [ $status = 0 ] || _fail "$*: not shown"
}
# a file that completes to a word with every character that a shell knows
odd='q1$(touch PWNED);`touch PWNED`&|<>*?[x]{a,b}~!#"'\''.recipe'
cp t.recipe "$odd"
cp t.recipe "$evil.recipe"
mkdir 'd$(touch PWNED)'
unset -f command_not_found_handle
tested=0
for shell in bash zsh; do
    command -v $shell >/dev/null || {
        echo "skipped: completion in $shell: it is not installed"
        continue
    }
    shown $shell 'orch show ' "$first"
    clean "$shell, runs"
    has 'base'
    has_not 'IFS'
    has_not $'\nok'
    shown $shell 'orch plugin show ' 'vecadd'
    clean "$shell, plugins"
    has 'mine'
    has_not '1.0.0'
    shown $shell 'orch ' 'completion'
    clean "$shell, commands"
    shown $shell 'orch run --ke' 'keep-trials'
    shown $shell 'orch run ' 't.recipe'
    clean "$shell, recipes"
    shown $shell 'orch run q' "<run><$odd>" enter
    clean "$shell, a recipe's name"
    shown $shell "orch show ${first:0:6}" "<show><$first>" enter
    shown $shell 'orch plugin show vecad' '<plugin><show><vecadd>' enter
    tested=$((tested + 1))
done
if command -v fish >/dev/null; then
    ask() {
        ok fish --no-config -c 'orch completion fish | source; complete -C $argv[1]' -- "$1"
        clean "fish: $1"
    }
    ask 'orch show '
    has "$first"
    has 'base'
    has_not 'IFS'
    has_not $'\nok'
    ask 'orch plugin show '
    has 'vecadd'
    has 'mine'
    has_not '1.0.0'
    has_not 't.recipe'
    ask 'orch plugin '
    has 'check'
    has_not 'completion'
    ask 'orch '
    has 'completion'
    has 'plugin'
    has_not 'mine'
    ask 'orch run '
    has 't.recipe'
    ask 'orch run --ke'
    has 'keep-trials'
    tested=$((tested + 1))
else
    echo 'skipped: completion in fish: it is not installed'
fi
[ $tested -gt 0 ] || skip 'there is no bash, zsh or fish'
