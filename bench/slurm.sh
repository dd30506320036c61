#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# How long orch itself takes to submit trials to Slurm and to collect them, with stand-ins for Slurm's programs
# (tests/slurm/slurm.sh), so that no cluster's speed is in the figures:
#   1,000 trials in one array; 5,000 under MaxArraySize = 1001; 1,000 ended trials collected, with journals as
#   orch-host writes them.
# The rows: elapsed / processor seconds. bench/slurm.sh [BUILD] [--strict]: --strict fails over a limit of elapsed time.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
SOURCE=$PWD BUILD=$PWD/build strict=
for a; do case $a in --strict) strict=1 ;; *) BUILD=$(realpath "$a") ;; esac; done
SCRATCH=$(mktemp -d "${TMPDIR:-/tmp}/orch-bench-XXXXXX")
trap 'cd /; rm -rf "$SCRATCH"' EXIT
export HOME=$SCRATCH GIT_CONFIG_NOSYSTEM=1 ORCH_USER=bench PATH=$BUILD:$PATH
mkdir "$SCRATCH/w"; cd "$SCRATCH/w"; git init -q -b main .
set +e; . "$SOURCE/tests/slurm/slurm.sh"; set -e
failed=0
TIMEFORMAT='%R %U %S'
measure() { # WHAT LIMIT CMD...: a row with elapsed and processor seconds
    local what=$1 limit=$2 times; shift 2
    times=$( { time "$@" >"$SCRATCH/out" 2>"$SCRATCH/err" || touch "$SCRATCH/failed"; } 2>&1)
    [ ! -e "$SCRATCH/failed" ] || { cat "$SCRATCH/err" >&2; exit 1; }
    awk -v what="$what" -v limit="$limit" '{ printf "| %s | %.2f / %.2f s | %s s |\n", what, $1, $2 + $3, limit; exit $1 > limit }' <<<"$times" || failed=1
}
printf 'format: 1\nrecipe: b\nslurm: { partition: p, time: 10min }\nexperiments:\n  u: { plugin: "null", repeat: 1000 }\n' >b.recipe
sed 's/1000/5000/' b.recipe >c.recipe
measure 'submitting 1,000 trials, one array' 3 orch run b.recipe --executor slurm -y
# the journals that a node writes, but without starting a thousand hosts: that of one, under each trial's key
folder=$(dirname "$(cat "$CLUSTER/jobs/101/output")")
first=$(sed -n 's/^0 //p' "$folder/tasks"); play 101 0
while read -r index dir; do
    [ "$index" = 0 ] || { sed "s/${first##*/}/${dir##*/}/g" "$first/journal" >"$dir/journal"; cp "$first/job.json" "$dir/job.json"; }
done <"$folder/tasks"
sed -i 's/PENDING/COMPLETED/' "$CLUSTER/jobs/101/ranges"
measure 'collecting 1,000 ended trials' 1 orch collect
[ "$(orch ls -n 0 --state ok --json | grep -c '"key"')" = 1000 ] || { echo 'not all were collected' >&2; exit 1; }
# in a repository of its own: ext4 searches long for a free inode where thousands of files were just removed
mkdir "$SCRATCH/v"; cp c.recipe "$SCRATCH/v"; cd "$SCRATCH/v"; git init -q -b main .
measure 'submitting 5,000 trials, MaxArraySize = 1001' 3 orch run c.recipe --executor slurm -y
[ "$(ls "$CLUSTER/jobs" | wc -l)" = 6 ] || { echo 'five arrays were expected' >&2; exit 1; }
[ -z "$strict" ] || exit $failed
