#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A network of two hidden layers in NumPy on scikit-learn's digits: the script of a search.

  bench/search_mlp.py --lr 0.05 --opt sgd --momentum 0.9 --width 64 --batch 32 --l2 1e-4 --drop 0.2 [--epochs 27]

After each epoch it prints the accuracy on the third of the images that it does not train on. The training images come
five times: as they are, and moved by one pixel to each side.
"""
import argparse
import os
os.environ.update(OMP_NUM_THREADS='1', OPENBLAS_NUM_THREADS='1')
import numpy as np  # noqa: E402


def load():
    from sklearn.datasets import load_digits
    x, y = load_digits(return_X_y=True)
    order = np.random.default_rng(1).permutation(len(x))
    x, y = x[order].reshape(-1, 8, 8) / 16 - 0.3, y[order]
    held = len(x) // 3
    train, labels = x[held:], y[held:]
    moved = [train] + [np.roll(train, by, axis) for axis in (1, 2) for by in (1, -1)]
    return (np.concatenate(moved).reshape(-1, 64).astype(np.float32), np.tile(labels, 5),
            x[:held].reshape(-1, 64).astype(np.float32), y[:held])


def forward(layers, x):
    for w, b in layers[:-1]:
        x = np.maximum(x @ w + b, 0)
    return x @ layers[-1][0] + layers[-1][1]


def gradients(layers, x, y, drop, rng):
    """The gradient of the mean cross entropy by each weight and bias."""
    kept, inputs = [], [x]
    for w, b in layers[:-1]:
        keep = (rng.random((len(x), w.shape[1]), dtype=np.float32) >= drop) / np.float32(1 - drop)
        x = np.maximum(x @ w + b, 0) * keep
        kept.append(keep)
        inputs.append(x)
    z = x @ layers[-1][0] + layers[-1][1]
    e = np.exp(z - z.max(1, keepdims=True))
    d = e / e.sum(1, keepdims=True)
    d[np.arange(len(y)), y] -= 1
    d /= len(y)
    out = []
    for i in range(len(layers) - 1, -1, -1):
        out.append((inputs[i].T @ d, d.sum(0)))
        if i:
            d = (d @ layers[i][0].T) * (inputs[i] > 0) * kept[i - 1]
    return out[::-1]


def train(p, data, epochs, seed=0):
    """Yields the validation accuracy after each epoch."""
    x, y, vx, vy = data
    rng = np.random.default_rng(seed)
    sizes = [64, p['width'], p['width'], 10]
    layers = [[rng.normal(0, np.sqrt(2 / a), (a, b)).astype(np.float32), np.zeros(b, np.float32)] for a, b in zip(sizes, sizes[1:])]
    first = [[np.zeros_like(v) for v in layer] for layer in layers]
    second = [[np.zeros_like(v) for v in layer] for layer in layers]
    steps = 0
    for _ in range(epochs):
        order = rng.permutation(len(x))
        for at in range(0, len(x) - p['batch'] + 1, p['batch']):
            rows = order[at:at + p['batch']]
            steps += 1
            for layer, m, v, g in zip(layers, first, second, gradients(layers, x[rows], y[rows], p['drop'], rng)):
                for k in range(2):
                    slope = g[k] + (np.float32(p['l2']) * layer[k] if k == 0 else 0)
                    if p['opt'] == 'sgd':
                        m[k] = np.float32(p['momentum']) * m[k] + slope
                        layer[k] -= np.float32(p['lr']) * m[k]
                    else:
                        m[k] = 0.9 * m[k] + 0.1 * slope
                        v[k] = 0.999 * v[k] + 0.001 * slope * slope
                        layer[k] -= np.float32(p['lr'] / (1 - 0.9**steps)) * m[k] / (np.sqrt(v[k] / (1 - 0.999**steps)) + np.float32(1e-8))
        yield float((np.nan_to_num(forward(layers, vx)).argmax(1) == vy).mean())


def main():
    a = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    a.add_argument('--lr', type=float, default=0.05)
    a.add_argument('--opt', choices=['sgd', 'adam'], default='sgd')
    a.add_argument('--momentum', type=float, default=0.9)
    a.add_argument('--width', type=int, default=64)
    a.add_argument('--batch', type=int, default=32)
    a.add_argument('--l2', type=float, default=1e-4)
    a.add_argument('--drop', type=float, default=0.2)
    a.add_argument('--epochs', type=int, default=27)
    o = a.parse_args()
    np.seterr(all='ignore')
    for epoch, accuracy in enumerate(train(vars(o), load(), o.epochs), 1):
        print(f'epoch {epoch}/{o.epochs} val_accuracy {accuracy:.5f}', flush=True)


if __name__ == '__main__':
    main()
