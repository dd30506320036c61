#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Rates of the replay buffer beside other libraries', in the same run: bench/replay.sh [BUILD] [PYTHON]. PYTHON has cpprb,
# stable_baselines3 or torchrl (pip); what it lacks is said. Then the buffer alone by capacity and by threads, as charts:
# 'bench/replay.sh growth [BUILD]' draws only these.
set -eu
source=$(realpath "$(dirname "$0")/..")
# growth BUILD: measures by capacity and by writers (bench/replay_growth.recipe), and writes a page with charts (and SVG, PNG, CSV)
growth() {
    export BENCH_REPLAY=$1/bench_replay
    "$1/orch" -C "$source" run bench/replay_growth.recipe --force -q --db "$1/replay-growth.db"
    "$1/orch" -C "$source" report bench/replay_growth.recipe --db "$1/replay-growth.db" --out "$1/replay-growth" -q
    echo "charts: $1/replay-growth/index.html"
}
if [ "${1:-}" = growth ]; then
    build=$(realpath "${2:-$source/build}")
    cmake --build "$build" --target bench_replay >/dev/null
    growth "$build"
    exit
fi
build=$(realpath "${1:-$source/build}") python=${2:-python3}
cmake --build "$build" --target bench_replay >/dev/null
echo "millions of steps a second of processor time; 1,000,000 records of 4 floats, batches of 256"
echo "orch: $("$build/bench_replay" | tr '\n' ' ')"
for peer in cpprb stable_baselines3 torchrl; do
    echo "$peer: $(OMP_NUM_THREADS=1 "$python" "$source/bench/replay_peers.py" "$peer" 2>/dev/null | tr '\n' ' ')"
done
growth "$build"
