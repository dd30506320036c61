#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Rates of the environments beside Gymnasium's and MinAtar's, in the same run: bench/env.sh [BUILD] [PYTHON]. PYTHON has
# gymnasium and minatar (pip); what it lacks is said. Then CartPole by the number of copies that are stepped in one call.
set -eu
source=$(realpath "$(dirname "$0")/..")
build=$(realpath "${1:-$source/build}") python=${2:-python3}
cmake --build "$build" --target bench_env >/dev/null
echo "millions of steps a second of processor time, one thread, random actions, resets included"
echo "orch, 64 copies: $("$build/bench_env" | tr '\n' ' ')"
for peer in gymnasium gymnasium_vector minatar; do
    echo "$peer: $(OMP_NUM_THREADS=1 "$python" -W ignore "$source/bench/env_peers.py" "$peer" 2>/dev/null | tr '\n' ' ')"
done
for copies in 1 8 64 1024 16384; do
    echo "orch, $copies copies: $("$build/bench_env" cartpole "$copies")"
done
