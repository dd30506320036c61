# SPDX-License-Identifier: GPL-3.0-or-later
"""Trains a network of one hidden layer in numpy on random images. usage: mlp.py --width N --batch N --epochs N"""
import argparse

import numpy as np

p = argparse.ArgumentParser()
for name in ("width", "batch", "epochs"):
    p.add_argument("--" + name, type=int, required=True)
a = p.parse_args()
rng = np.random.default_rng(0)
x, y = rng.random((2000, 784), dtype=np.float32), rng.integers(10, size=2000)
w1, w2 = (rng.normal(0, 0.05, s).astype(np.float32) for s in ((784, a.width), (a.width, 10)))
for _ in range(a.epochs):
    for at in range(0, len(x), a.batch):
        b, t = x[at:at + a.batch], y[at:at + a.batch]
        h = np.maximum(b @ w1, 0)
        z = h @ w2
        p_ = np.exp(z - z.max(1, keepdims=True))
        p_ /= p_.sum(1, keepdims=True)
        p_[np.arange(len(t)), t] -= 1
        p_ /= len(t)
        back = (p_ @ w2.T) * (h > 0)
        w2 -= 0.1 * h.T @ p_
        w1 -= 0.1 * b.T @ back
print("done", 1)
