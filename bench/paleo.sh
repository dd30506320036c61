#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# 100,000 steps of PALEO (AlexNet; workers, batch, scaling and scheme vary; each from the layer table; limit
# 2 s), beside the same formulas in plain Python on 1,000 of them, whose sums must agree. The Python is ours,
# written from the formulas: PALEO's own program is Python too, and does more for each layer.
# usage: paleo.sh [--strict] [BUILD]
set -eu
strict=0; [ "${1:-}" = --strict ] && { strict=1; shift; }
cd "$(dirname "$0")/.."
build=$(realpath "${1:-build}")
read -r seconds _ < <("$build/bench_paleo_rows" bench/alexnet.csv 100000)
read -r _ sum < <("$build/bench_paleo_rows" bench/alexnet.csv 1000)
read -r python python_sum < <(python3 bench/paleo_rows.py bench/alexnet.csv 1000)
awk -v s="$seconds" -v a="$sum" -v p="$python" -v b="$python_sum" -v strict="$strict" 'BEGIN {
    d = (a - b) / b; if (d < 0) d = -d
    printf "orch     %9.0f rows/s, 100,000 in %.3f s (limit 2 s)\n", 100000 / s, s
    printf "Python   %9.0f rows/s\n", 1000 / p
    printf "orch / Python: %.0f; the sums of 1,000 rows differ by %.1e\n", p * 100 / s, d
    exit strict && (s > 2 || d > 1e-9) }'
