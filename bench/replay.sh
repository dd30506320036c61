#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Rates of the replay buffer beside other libraries', in the same run: bench/replay.sh [BUILD] [PYTHON]. PYTHON has cpprb,
# stable_baselines3 or torchrl (pip); what it lacks is said. Then the buffer alone by capacity.
set -eu
source=$(realpath "$(dirname "$0")/..")
build=$(realpath "${1:-$source/build}") python=${2:-python3}
cmake --build "$build" --target bench_replay >/dev/null
echo "millions of steps a second of processor time; 1,000,000 records of 4 floats, batches of 256"
echo "orch: $("$build/bench_replay" | tr '\n' ' ')"
for peer in cpprb stable_baselines3 torchrl; do
    echo "$peer: $(OMP_NUM_THREADS=1 "$python" "$source/bench/replay_peers.py" "$peer" 2>/dev/null | tr '\n' ' ')"
done
for capacity in 10000 100000 1000000 10000000; do
    echo "orch, $capacity records: $("$build/bench_replay" "$capacity" | tr '\n' ' ')"
done
