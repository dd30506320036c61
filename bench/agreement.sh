#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# How far simulated and computed times are from measured ones, on what was left out of the calibration (agreement.py says
# how): bench/agreement.sh [BUILD] [DATA]. DATA has nccl_allreduce.csv; without it that part says so.
set -eu
source=$(realpath "$(dirname "$0")/..")
exec python3 "$source/bench/agreement.py" "$(realpath "${1:-$source/build}")" "${2:-$source/../shared/data}"
