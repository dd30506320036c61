# SPDX-License-Identifier: MIT
"""@NAME@: minimises f(x) = x^2 by gradient descent with noisy gradients.

A skeleton to change into your own. As a plugin: orch plugin check ./@NAME@.plugin
By hand, with the values below:

    PYTHONPATH=@PYTHON@ python3 ./@NAME@.py
"""
import json
import random

import orch

trial = orch.start(epochs=100, lr=0.1, noise=0.01)
rng = random.Random(trial.derive_seed("noise"))  # every random choice: from the trial's seed

x, trace = 1.0, []
for epoch in trial.steps(trial.epochs):  # ends early in a smoke run, or when cancelled
    x -= trial.lr * (2 * x + rng.gauss(0, trial.noise))
    trace.append(x)
    trial.metric("loss", epoch, x * x)

trial.result("final_loss", x * x)
with open("trace.json", "w") as file:
    json.dump(trace, file)
trial.artifact("trace", "trace.json")
