#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Push and pull over a local bare remote: bench/exchange.sh BUILD [RUNS...]. For each number of runs that
# are there already (1,000, 10,000 and 100,000), made all over a year as a group's are, and then all made
# just now, so that the new ones fall into the same folders: the first push of them all, a push of 1,000
# new ones, a pull of these by somebody else, a pull and a push with nothing new. Each in seconds of the whole process, and
# of the processor (git's processes too; what a busy machine does not change).
set -eu
BUILD=$(cd "${1:?usage: exchange.sh BUILD [RUNS...]}" && pwd)
shift
[ $# -gt 0 ] || set -- 1000 10000 100000
FOLDER=$(mktemp -d "${TMPDIR:-/tmp}/orch-bench-XXXXXX")
trap 'rm -rf "$FOLDER"' EXIT
export PATH=$BUILD:$PATH HOME=$FOLDER GIT_AUTHOR_NAME=b GIT_AUTHOR_EMAIL=b@example.org \
    GIT_COMMITTER_NAME=b GIT_COMMITTER_EMAIL=b@example.org GIT_CONFIG_NOSYSTEM=1
seconds() { # seconds FOLDER CMD...: "elapsed/processor" of one run of it
    local TIMEFORMAT='%R %U %S' spent
    spent=$( (cd "$1" && shift && time "$@" >/dev/null 2>"$FOLDER/said") 2>&1) || { cat "$FOLDER/said"; exit 1; }
    awk '{ printf "%.2f/%.2f", $1, $2 + $3 }' <<<"$spent"
}
measure() { # measure RUNS year|small
    rm -rf "$FOLDER"/{hub.git,ada,bob}
    git init -q --bare "$FOLDER/hub.git"
    for who in ada bob; do
        git clone -q "$FOLDER/hub.git" "$FOLDER/$who" 2>/dev/null
        (cd "$FOLDER/$who" && mkdir .orch && echo '*' >.orch/.gitignore)
    done
    bench_store_fill "$FOLDER/ada/.orch/results.db" "$1" "$2" >/dev/null
    all=$(seconds "$FOLDER/ada" orch push)
    (cd "$FOLDER/bob" && orch pull >/dev/null 2>&1)
    bench_store_fill "$FOLDER/ada/.orch/results.db" 1000 small >/dev/null
    more=$(seconds "$FOLDER/ada" orch push)
    got=$(seconds "$FOLDER/bob" orch pull)
    idle=$(seconds "$FOLDER/bob" orch pull)
    none=$(seconds "$FOLDER/ada" orch push)
    printf '%-9s %-9s %11s %14s %14s %12s %12s\n' "$1" "$3" "$all" "$more" "$got" "$idle" "$none"
}
printf '%-9s %-9s %11s %14s %14s %12s %12s\n' there 'made in' 'push all' 'push +1,000' 'pull +1,000' 'pull none' \
    'push none'
for runs in "$@"; do
    measure "$runs" year 'a year'
    measure "$runs" small 'one go'
done
