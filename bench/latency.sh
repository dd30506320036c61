#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# How long a user waits: orch --version (limit 10 ms), one network or forecast (15 ms), orch plan of 100
# trials, orch predict from a store of 10,000 runs with a trained predictor, and orch ls over 100,000 runs (limit
# 50 ms each), beside git --version for scale. The median of 11. usage: latency.sh [--strict] [BUILD]
set -eu
strict=0; [ "${1:-}" = --strict ] && { strict=1; shift; }
cd "$(dirname "$0")/.."
build=$(realpath "${1:-build}")
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cd "$work"; git init -q .; echo x >x; git add x; git -c user.name=t -c user.email=t@e commit -qm x
failed=0
median() { # median NAME LIMIT-MS COMMAND...
    local name=$1 limit=$2 i start; shift 2
    for i in 1 2 3 4 5 6 7 8 9 10 11; do
        start=$(date +%s%N); "$@" >/dev/null 2>&1; echo $((($(date +%s%N) - start) / 1000))
    done | sort -n | sed -n 6p >m
    awk -v n="$name" -v l="$limit" '{ printf "%-34s %8.2f ms%s\n", n, $1 / 1000, l ? "  (limit " l " ms)" : ""; exit l && $1 > l * 1000 }' m || failed=1
}
median "git --version" 0 git --version
median "orch --version" 10 "$build/orch" --version
median "orch net show resnet152" 15 "$build/orch" net show resnet152
median "orch predict, resnet152 on a V100" 15 "$build/orch" predict --gpu V100 --net resnet152
median "orch predict, PALEO, densenet169" 15 "$build/orch" paleo --net densenet169 --workers 1,2,4,8,16
median "orch predict --gpu all" 15 "$build/orch" predict --gpu all --net resnet152
printf 'format: 1\nrecipe: p\nexperiments:\n  n: { plugin: sleep, sweep: { seconds: [%s] } }\n' "$(seq -s , 1 100)" >p.recipe
median "orch plan, 100 trials, no store" 50 "$build/orch" plan p.recipe
printf 'format: 1\nrecipe: one\nexperiments:\n  n: { plugin: "null" }\n' >one.recipe
"$build/orch" run one.recipe -q
median "orch plan, 100 trials" 50 "$build/orch" plan p.recipe
"$build/bench_store_fill" .orch/results.db 100000
median "orch ls over 100,000 runs" 50 "$build/orch" ls
median "orch ls --where over 100,000 runs" 0 "$build/orch" ls --where 'state=ok and repeat=3'
mkdir trained; cd trained; git init -q .
"$build/bench_store_fill" .orch/results.db 10000 timed
median "orch predict, 10,000 runs, untrained" 0 "$build/orch" predict --gpu V100 --net resnet50 --batch 64
start=$(date +%s%N); "$build/orch" predictor train >/dev/null
printf '%-34s %8.2f s\n' "orch predictor train, 10,000 runs" "$(awk "BEGIN { print ($(date +%s%N) - $start) / 1e9 }")"
median "orch predict, 10,000 runs, measured" 50 "$build/orch" predict --gpu V100 --net resnet50 --batch 64
median "orch predict, 10,000 runs, fitted" 50 "$build/orch" predict --gpu V100 --net resnet50 --batch 60
median "orch predict --gpu all, 10,000 runs" 0 "$build/orch" predict --gpu all --net resnet50 --batch 60
[ $strict = 0 ] || exit $failed
