#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Learning curves for bench/stop_replay: trains small networks with random settings on scikit-learn's own data.

  bench/stop_curves.py [--runs 620] [--epochs 27] [--seed 0] > curves.csv
  bench/stop_curves.py --public DIR > public.csv
  bench/stop_curves.py --algoperf REPOSITORY > algoperf.csv

Three tasks take turns: the handwritten digits, the breast-cancer table (classes) and the diabetes table (a number). Each
run draws its optimizer, learning rate, momentum, widths, batch and weight decay, trains for all its epochs and writes
what its validation third has after each: the accuracy and the loss, or the mean squared error. Nothing is left out: a
run that diverges is in the file with its NaN. Needs scikit-learn.

With --public no training takes place: the curves come from tables of published ones in DIR, and a table that is not
there is named. They are few and no search's trials. Each set comes twice: whole, with curves of all lengths, and only
the largest group of about one length. With --algoperf they are the validation losses of AlgoPerf's logged trainings
(bench/algoperf.py), a set for each workload with 40 or more, of about one length.
"""
import argparse
import csv
import os
import sys
import warnings

try:
    import numpy as np
    from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
    from sklearn.metrics import log_loss
    from sklearn.model_selection import train_test_split
    from sklearn.neural_network import MLPClassifier, MLPRegressor
    from sklearn.preprocessing import StandardScaler
except ImportError:
    np = None

warnings.filterwarnings('ignore')

# file, name of the set, direction, columns that name a run, column of the value, rows that count
PUBLIC = [
    ('nanogpt_curves.csv', 'nanogpt val_loss', 'min', ('track', 'run'), 'loss', lambda r: r['kind'] == 'val' and r['track'] == 'short'),
    ('mpl_curves.csv', 'mpl loss', 'min', ('params_m', 'schedule'), 'loss', lambda r: True),
    ('dawnbench_epochs.csv', 'dawnbench CIFAR10', 'max', ('task', 'entry'), 'top1_or_f1', lambda r: r['task'] == 'CIFAR10'),
    ('dawnbench_epochs.csv', 'dawnbench ImageNet', 'max', ('task', 'entry'), 'top1_or_f1', lambda r: r['task'] == 'ImageNet'),
]


def load(make, is_class):
    x, y = make(return_X_y=True)
    y = y if is_class else (y - y.mean()) / y.std()
    a, b, c, d = train_test_split(x, y, test_size=1 / 3, random_state=1, stratify=y if is_class else None)
    scaler = StandardScaler().fit(a)
    return scaler.transform(a), scaler.transform(b), c, d


def settings(rng):
    solver = str(rng.choice(['sgd', 'adam']))
    return dict(solver=solver, learning_rate_init=float(10**rng.uniform(-4, 0 if solver == 'sgd' else -1)),
                momentum=float(rng.uniform(0, 0.99)), alpha=float(10**rng.uniform(-6, 0)),
                batch_size=int(2**rng.integers(4, 9)), activation=str(rng.choice(['relu', 'tanh'])),
                hidden_layer_sizes=tuple([int(2**rng.integers(3, 7))] * int(rng.integers(1, 3))),
                random_state=int(rng.integers(1 << 30)))


def values(model, is_class, x, y):
    """NaN after a divergence, which scikit-learn meets with an error."""
    if not is_class:
        return {'val_mse': float(np.mean((model.predict(x) - y)**2))}
    p = model.predict_proba(x)
    loss = log_loss(y, p, labels=model.classes_) if np.isfinite(p).all() else float('nan')
    return {'val_accuracy': float((p.argmax(1) == y).mean()), 'val_loss': loss}


def curve(data, is_class, rng, epochs):
    x, vx, y, vy = data
    model = (MLPClassifier if is_class else MLPRegressor)(**settings(rng))
    names = ('val_accuracy', 'val_loss') if is_class else ('val_mse',)
    out, dead = [], False
    for _ in range(epochs):
        try:
            if not dead:
                model.partial_fit(x, y, **({'classes': np.unique(y)} if is_class else {}))
                point = values(model, is_class, vx, vy)
        except ValueError:
            dead = True
        out.append({name: float('nan') for name in names} if dead else point)
    return out


def print_public(folder):
    for file, name, direction, keys, column, counts in PUBLIC:
        path = os.path.join(folder, file)
        if not os.path.exists(path):
            print(f'{name}: {path} is absent', file=sys.stderr)
            continue
        curves = {}
        with open(path, newline='') as f:
            for row in csv.DictReader(f):
                if counts(row) and row[column]:
                    curves.setdefault(tuple(row[k] for k in keys), []).append(float(row[column]))
        print_set(name, direction, curves.values())
        print_set(f'{name} one length', direction, of_one_length(list(curves.values())))


def print_algoperf(repository):
    from algoperf import curves  # beside this script; needs SciPy
    sets = {}
    for name, points in curves(repository):
        sets.setdefault(name.split('/')[-2], []).append([loss for _, loss in points])
    for name, all_curves in sorted(sets.items()):
        if len(one := of_one_length(all_curves)) >= 40:
            print_set(f'algoperf {name}', 'min', one)


def print_set(name, direction, curves):
    for run, values in enumerate(curves):
        for n, value in enumerate(values):
            print(f'{name},{direction},{run},{n + 1},{value:.10g}')


def of_one_length(curves):
    """The largest group whose lengths differ by at most a quarter, as those of a search usually do."""
    groups = [[c for c in curves if len(first) <= len(c) <= 1.25 * len(first)] for first in curves]
    return max(groups, key=len)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--runs', type=int, default=620)
    parser.add_argument('--epochs', type=int, default=27)
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--public', metavar='DIR')
    parser.add_argument('--algoperf', metavar='REPOSITORY')
    args = parser.parse_args()
    if not (args.public or args.algoperf) and np is None:
        sys.exit('stop_curves: needs scikit-learn')
    if args.public or args.algoperf:
        print('set,direction,run,n,value')
        print_public(args.public) if args.public else print_algoperf(args.algoperf)
        return
    tasks = [('digits', load(load_digits, True), True), ('cancer', load(load_breast_cancer, True), True),
             ('diabetes', load(load_diabetes, False), False)]
    print('set,direction,run,n,value')
    for run in range(args.runs):
        name, data, is_class = tasks[run % len(tasks)]
        points = curve(data, is_class, np.random.default_rng([args.seed, run]), args.epochs)
        for metric in points[0]:
            for n, point in enumerate(points):
                print(f"{name} {metric},{'max' if metric == 'val_accuracy' else 'min'},{run},{n + 1},{point[metric]:.10g}")
        if run % 50 == 49:
            print(f'{run + 1} runs', file=sys.stderr)


if __name__ == '__main__':
    main()
