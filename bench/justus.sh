#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Layers and VGG-16 of Justus et al. 2018, predicted: RMSE by GPU beside the published figures (a model of each
# GPU, one for all, the GPU left out), and VGG-16's batch as the sum of its layers. Their measurements are not
# part of orch: they are looked for in DATA (default: ../shared/data). STEP: use every STEP-th row (default 1).
# usage: justus.sh [BUILD [DATA [STEP]]]
set -eu
cd "$(dirname "$0")/.."
build=${1:-build} data=${2:-../shared/data} step=${3:-1}
[ -x "$build/bench_justus" ] || { echo "build it first: ninja -C $build bench_justus"; exit 1; }
exec "$build/bench_justus" "$data" "$step"
