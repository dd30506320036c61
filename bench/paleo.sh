#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# 100,000 steps of PALEO (AlexNet and VGG-16; workers, batch, scaling and scheme vary; each from the layer
# table; limit 2 s), beside the same formulas in plain Python on 5,000 of them, whose times must agree row by
# row to 1e-9. The Python is ours, transcribed from the formulas: PALEO's own program is Python too, but could
# not be had here, and does more for each layer.
# usage: paleo.sh [--strict] [BUILD]
set -eu
strict=0; [ "${1:-}" = --strict ] && { strict=1; shift; }
cd "$(dirname "$0")/.."
rows="$(realpath "${1:-build}")/bench_paleo_rows"; tables="bench/alexnet.csv bench/vgg16.csv"; sample=5000
# shellcheck disable=SC2086
{ seconds=$("$rows" 100000 $tables)
  python=$(python3 bench/paleo_rows.py $sample $tables)
  differs=$(paste <("$rows" --each $sample $tables) <(python3 bench/paleo_rows.py --each $sample $tables) |
      awk -v want=$sample '{ d = ($1 - $2) / $2; if (d < 0) d = -d; if (d > most) most = d; n += NF == 2 }
           END { print n == want ? most + 0 : 1 }'); }
awk -v s="$seconds" -v p="$python" -v d="$differs" -v n=$sample -v strict="$strict" 'BEGIN {
    printf "orch     %9.0f rows/s, 100,000 in %.3f s (limit 2 s)\n", 100000 / s, s
    printf "Python   %9.0f rows/s (our transcription of the formulas, not PALEO'\''s own program)\n", n / p
    printf "orch / Python: %.0f; the largest relative difference of %d rows is %s\n", 100000 / s * p / n, n, d
    exit strict && (s > 2 || d > 1e-9) }'
