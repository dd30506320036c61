#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Parallel trials that would keep the same file as an artifact run in separate folders, however the file is named.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
cat >w.sh <<'S'
mkdir -p out; echo "$2" >"out/$1.txt"; touch "begun$2$3"; sleep 0.3 # a file of another one would be here by then
echo acc 1
S
printf 'out/\nbegun*\n' >.gitignore
git add -A
git commit -qm one
# kept NAME WANT: each run of the newest sweep kept what it wrote itself
kept() {
    ok orch ls --json
    local list=$out i
    for i in $(seq 0 $(($1 - 1))); do
        out=$list
        local key=$(json runs.$i.key) n=$(json runs.$i.setting.n)
        ok orch show "$key" --artifact m
        same "$out" "$n" 'what a run kept'
    done
}
at_once() { ok orch try -j 2 --oversubscribe "$@"; }
at_once -x n=1,2 --repeat 2 --artifact m='out/{repeat}.txt' -- sh w.sh '{repeat}' '{n}'
says "because several at once write the artifact 'out/1.txt'"
kept 4
at_once -x n=3,4 -s k=7 --artifact m='out/{k}.txt' -- sh w.sh '{k}' '{n}'
says "because several at once write the artifact 'out/7.txt'"
kept 2
at_once -x n=5,6 --artifact m='out/{n}.txt' -- sh w.sh '{n}' '{n}'
says_not 'run in copies of your folder'
kept 2
at_once -x n=8 --repeat 2 --artifact m='out/{repeat}.txt' -- sh w.sh '{repeat}' '{n}'
says_not 'run in copies of your folder'
kept 2
# two experiments of one recipe
for name in a b; do
    printf 'plugin: %s\ncommand: [sh, w.sh, same, "${n}"]\nparameters: { n: { type: int, default: 1 } }\nmetrics: { acc: {} }\nartifacts: { m: { path: out/same.txt } }\n' $name >$name.plugin
done
printf 'format: 1\nrecipe: two\nexperiments:\n  a: { plugin: ./a.plugin, with: { n: 11 } }\n  b: { plugin: ./b.plugin, with: { n: 12 } }\n' >two.recipe
ok orch run two.recipe -j 2 --oversubscribe
says "at once write the artifact 'out/same.txt'"
for one in a b; do
    ok orch ls --where "experiment=$one" --json
    key=$(json runs.0.key) n=11
    [ $one = a ] || n=12
    ok orch show "$key" --artifact m
    same "$out" "$n" 'what a run kept'
done
exit 0
