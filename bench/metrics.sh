#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Metrics end to end: a compiled plugin reports 1,000,000 points; from starting `orch run` to committed
# rows (journal included), against raw prepared inserts of as many points into the same table. At least
# 0.35 is asked for. usage: bench/metrics.sh [--strict] [BUILD] [POINTS]
set -eu
strict=0; [ "${1:-}" = --strict ] && { strict=1; shift; }
cd "$(dirname "$0")/.."
build=$(realpath "${1:-build}"); points=${2:-1000000}
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cd "$work"
"$build/bench_store_metrics" --points "$points" | tee raw
printf 'format: 1\nrecipe: m\nexperiments:\n  n: { plugin: "null", with: { metrics: %d } }\n' "$points" >m.recipe
best=
for _ in 1 2 3; do
    rm -rf .orch; start=$(date +%s%N); "$build/orch" run m.recipe -q --no-progress; t=$((($(date +%s%N) - start) / 1000))
    [ -n "$best" ] && [ "$best" -le "$t" ] || best=$t
done
"$build/orch" db info | grep -q "^points  *$points$" || { echo "not every point is in the store"; exit 1; }
awk -v t="$best" -v s=$strict -v n="$points" '/^raw/ { raw = $3 } END { t /= 1e6
    printf "end to end      %.3f s  %d points/s\nratio           %.2f of raw inserts (at least 0.35)\n", t, n / t, raw / t
    exit s && raw / t < 0.35 }' raw
