#!/bin/sh
# SPDX-License-Identifier: MIT
# @NAME@: minimises f(x) = x^2 by gradient descent with noisy gradients.
#
#     sh ./@NAME@.sh STEPS LR SEED
#
# A skeleton to change into your own: it knows nothing of orch, it prints "name value" pairs. To try
# it as a plugin: orch plugin check ./@NAME@.plugin
set -eu
steps=$1 lr=$2 seed=$3

# ORCH_SMOKE is set in a smoke run: two steps, nothing more.
if [ -n "${ORCH_SMOKE:-}" ] && [ "$steps" -gt 2 ]; then
    steps=2
fi

# awk's srand takes 31 bits; the end of a seed is as random as the rest of it.
seed=$(printf '%s' "$seed" | tail -c 9)

LC_ALL=C awk -v steps="$steps" -v lr="$lr" -v seed="$seed" 'BEGIN {
    srand(seed)
    x = 1
    for (step = 0; step < steps; step++) {
        x -= lr * (2 * x + 0.01 * (rand() - 0.5))
        printf "step %d loss %.9g\n", step, x * x
        printf "%d %.9g\n", step, x > "trace.txt"
    }
    printf "final_loss %.9g\n", x * x
}'
