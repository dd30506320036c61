#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# How long orch itself takes to submit trials to Slurm and to collect them, with stand-ins for Slurm's programs
# (tests/cli/slurm.sh), so that no cluster's speed is in the figures:
#   1,000 trials in one array; 5,000 under MaxArraySize = 1001; 1,000 ended trials collected, with journals as
#   orch-host writes them.
# bench/slurm.sh [BUILD] [--strict]: --strict fails over 3 s, 3 s a thousand and 1 s.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
SOURCE=$PWD BUILD=$PWD/build strict=
for a; do case $a in --strict) strict=1 ;; *) BUILD=$(realpath "$a") ;; esac; done
SCRATCH=$(mktemp -d "${TMPDIR:-/tmp}/orch-bench-XXXXXX")
trap 'cd /; rm -rf "$SCRATCH"' EXIT
export HOME=$SCRATCH GIT_CONFIG_NOSYSTEM=1 ORCH_USER=bench PATH=$BUILD:$PATH
mkdir "$SCRATCH/w"; cd "$SCRATCH/w"; git init -q -b main .
set +e; . "$SOURCE/tests/cli/slurm.sh"; set -e
failed=0
seconds() { local from to; from=$(date +%s%N); "$@" >"$SCRATCH/out" 2>"$SCRATCH/err" || { cat "$SCRATCH/err" >&2; exit 1; }; to=$(date +%s%N); awk "BEGIN { printf \"%.2f\", ($to - $from) / 1e9 }"; }
line() { # WHAT SECONDS LIMIT
    printf '| %s | %s s | %s s |\n' "$1" "$2" "$3"
    awk "BEGIN { exit !($2 > $3) }" && failed=1 || true
}
printf 'format: 1\nrecipe: b\nslurm: { partition: p, time: 10min }\nexperiments:\n  u: { plugin: "null", repeat: 1000 }\n' >b.recipe
sed 's/1000/5000/' b.recipe >c.recipe
line 'submitting 1,000 trials, one array' "$(seconds orch run b.recipe --executor slurm -y)" 3
# the journals that a node writes, but without starting a thousand hosts: that of one, under each trial's key
folder=$(dirname "$(cat "$CLUSTER/jobs/101/output")")
first=$(sed -n 's/^0 //p' "$folder/tasks"); play 101 0
while read -r index dir; do
    [ "$index" = 0 ] || { sed "s/${first##*/}/${dir##*/}/g" "$first/journal" >"$dir/journal"; cp "$first/job.json" "$dir/job.json"; }
done <"$folder/tasks"
sed -i 's/PENDING/COMPLETED/' "$CLUSTER/jobs/101/ranges"
line 'collecting 1,000 ended trials' "$(seconds orch collect)" 1
[ "$(orch ls -n 0 --state ok --json | grep -c '"key"')" = 1000 ] || { echo 'not all were collected' >&2; exit 1; }
rm -rf .orch
line 'submitting 5,000 trials, MaxArraySize = 1001' "$(seconds orch run c.recipe --executor slurm -y)" 15
[ "$(ls "$CLUSTER/jobs" | wc -l)" = 6 ] || { echo 'five arrays were expected' >&2; exit 1; }
[ -z "$strict" ] || exit $failed
