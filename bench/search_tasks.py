#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables of measured trainings, and the tasks that bench/search_replay.py makes of them.

  bench/search_tasks.py mlp|boost FILE.json [--points 500] [--budget SECONDS]
  bench/search_tasks.py lenet FILE.json --orch BUILD [--points 150] [--budget SECONDS]

Three real tasks: a network in NumPy on scikit-learn's digits (bench/search_mlp.py), gradient boosting on them
(bench/search_boost.py), and LeNet on Fashion-MNIST by orch's plugin `train`, which needs LibTorch and the data. Each
point of the table is one training, with what it reported after each epoch and the seconds of processor time until then
(with `lenet` those that its epochs took). Six of ten points are spread over the space (Sobol), the others are near the best tenth of them, where
a search spends its trials. --budget ends the table after so many seconds of processor time.
"""
import argparse
import glob
import json
import math
import os
import random
import sqlite3
import subprocess
import sys
import tempfile
import time

TASKS = {  # name: (space, direction, epochs)
    'mlp': ({'opt': '[sgd, adam]', 'lr': 'loguniform(1e-4, 1)', 'momentum': 'uniform(0, 0.99) if opt = sgd', 'width': 'int(16, 128, log)',
             'batch': 'int(16, 128, log)', 'l2': 'loguniform(1e-6, 0.1)', 'drop': 'uniform(0, 0.6)'}, 'max', 27),
    'boost': ({'rate': 'loguniform(0.01, 1)', 'grow': '[depth, leaves]', 'depth': 'int(1, 6) if grow = depth', 'leaves': 'int(2, 16, log) if grow = leaves',
               'features': 'uniform(0.02, 1)', 'rows': 'uniform(0.2, 1)', 'least': 'int(1, 32, log)'}, 'min', 27),
    'lenet': ({'optimizer': '[sgd, adam]', 'lr': 'loguniform(1e-4, 1)', 'momentum': 'uniform(0, 0.99) if optimizer = sgd',
               'batch': 'int(16, 256, log)', 'weight_decay': 'loguniform(1e-6, 0.1)'}, 'max', 9),
}


def range_of(text):
    """('loguniform', ['1e-5', '1'], None or (parent, [choices])) of a range as orch reads it."""
    text, _, when = text.partition(' if ')
    condition = None
    if when:
        parent, _, values = when.partition(' in ' if ' in ' in when else '=')
        condition = (parent.strip(), [value.strip() for value in values.strip().strip('[]').split(',')])
    if text.startswith('['):
        return 'choice', [w.strip() for w in text[1:-1].split(',')], condition
    word, _, rest = text.partition('(')
    return word, [w.strip() for w in rest.rstrip(')').split(',')], condition


def unit_of(text, value):
    """A number as a share of its range, along its logarithm where the range is one of logarithms."""
    word, args, _ = range_of(text)
    low, high = float(args[0]), float(args[1])
    if word == 'loguniform' or args[2:] == ['log']:
        return math.log(value / low) / math.log(high / low)
    return (value - low) / (high - low)


def value_at(text, unit):
    word, args, _ = range_of(text)
    if word == 'choice':
        return args[min(int(unit * len(args)), len(args) - 1)]
    low, high = float(args[0]), float(args[1])
    value = low * (high / low)**unit if word == 'loguniform' or args[2:] == ['log'] else low + (high - low) * unit
    return min(max(round(value), int(low)), int(high)) if word == 'int' else float(f'{value:.6g}')


def point_at(space, units):
    out = {}
    for (name, text), unit in zip(space.items(), units):
        condition = range_of(text)[2]
        if not condition or out.get(condition[0]) in condition[1]:
            out[name] = value_at(text, unit)
    return out


# ---- measuring ---------------------------------------------------------------------------------------------------------


def in_process(module, epochs):
    """A training here; the seconds of the script's start are those of a Python that only loads the data."""
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    part = __import__(module)
    import numpy
    numpy.seterr(all='ignore')
    began = os.times()
    subprocess.run([sys.executable, '-c', f'import {module} as m; m.load()'], check=True, cwd=os.path.dirname(os.path.abspath(__file__)))
    ended = os.times()
    start = ended.children_user + ended.children_system - began.children_user - began.children_system
    data = part.load()

    def train(point):
        p = {'momentum': 0, 'depth': 3, 'leaves': 8, **point}
        values, seconds, before = [], [], time.process_time()
        for value in part.train(p, data, epochs):
            values.append(value)
            seconds.append(start + time.process_time() - before)
        return values, seconds
    return train


def by_orch(build, epochs):
    """A training by the plugin `train`, in a store that is thrown away."""
    orch = os.path.join(os.path.abspath(build), 'orch')

    def train(point):
        with tempfile.TemporaryDirectory(prefix='orch-bench-') as folder:
            with open(os.path.join(folder, 'one.recipe'), 'w') as f:
                settings = {'dataset': 'fashion-mnist', 'net': 'lenet5', 'epochs': epochs, 'per_class': 600, 'val_images': 2000, 'full_validation': False, **point}
                f.write('format: 1\nrecipe: one\nexperiments:\n  one:\n    plugin: train\n    with:\n' +
                        ''.join(f'      {k}: {json.dumps(v)}\n' for k, v in settings.items()))
            subprocess.run(['git', 'init', '-q', folder], check=True)
            run = subprocess.run([orch, 'run', 'one.recipe'], cwd=folder, text=True, capture_output=True)
            store = glob.glob(os.path.join(folder, '.orch', '*.db'))
            if not store:
                sys.exit(run.stderr)
            return read_store(store[0], epochs)
    return train


def read_store(path, epochs):
    db = sqlite3.connect(path)
    values, times = ([v for v, in db.execute('SELECT value FROM metric m JOIN metric_name n ON n.id = m.name_id WHERE n.name = ? ORDER BY step', (name,))]
                     for name in ('val_accuracy', 'epoch_time'))
    wall_s = db.execute('SELECT max(wall_ms) FROM run').fetchone()[0] / 1e3
    if not times:
        sys.exit('the training has no epochs')
    start = max(wall_s - sum(times), 0)  # and validation, which is a small part
    seconds = [start + sum(times[:n + 1]) for n in range(len(times))]
    missing = epochs - len(values)  # diverged: it guesses, and costs nothing more
    return [0.1 if v is None else v for v in values] + [0.1] * missing, seconds + seconds[-1:] * (epochs - len(seconds))


def sobol(count, dimensions):
    from scipy.stats import qmc
    import warnings
    warnings.filterwarnings('ignore')
    return qmc.Sobol(dimensions, seed=1).random(count).tolist()


def measure(task, train, points, budget, path):
    space, direction, _ = TASKS[task]
    sign = -1 if direction == 'max' else 1
    rng, rows, began = random.Random(1), [], time.time()
    spread = sobol(points * 6 // 10, len(space))
    spent = 0
    for i in range(points):
        if i < len(spread):
            units = spread[i]
        else:
            best = sorted(rows[:len(spread)], key=lambda r: sign * r['values'][-1])[:max(len(spread) // 10, 1)]
            units = [min(max(u + rng.gauss(0, 0.12), 0), 1) for u in rng.choice(best)['units']]
        point = point_at(space, units)
        values, seconds = train(point)
        rows.append({'point': point, 'units': units, 'values': values, 'seconds': seconds})
        spent += seconds[-1] if seconds else 0
        if i % 20 == 19 or i + 1 == points or spent > budget:
            print(f'{task}: {i + 1} trainings, {spent:.0f} s of processor time, {time.time() - began:.0f} s', file=sys.stderr, flush=True)
            with open(path, 'w') as f:
                json.dump({'task': task, 'space': space, 'direction': direction, 'rows': rows}, f)
        if spent > budget:
            return


# ---- replaying ---------------------------------------------------------------------------------------------------------


class Table:
    """What a training at any point of the space reports, by the nearest measured ones of the same choices: the mean of NEAR curves, weighted by
    a normal density whose deviation is half of the distance to the last of them. The landscape is smooth, and has no noise."""
    NEAR = 8

    def __init__(self, path):
        import numpy as np
        self.np = np
        with open(path) as f:
            data = json.load(f)
        self.name, self.space, self.direction = data['task'], data['space'], data['direction']
        groups = {}
        for row in data['rows']:
            groups.setdefault(self.choices(row['point']), []).append(row)
        self.groups = {key: (np.array([self.numbers(r['point']) for r in rows]), np.array([r['values'] for r in rows]),
                             np.array([r['seconds'] for r in rows])) for key, rows in groups.items()}
        self.count = len(data['rows'])
        self.epochs = len(data['rows'][0]['values'])
        self.mean_s = float(np.mean([r['seconds'][-1] for r in data['rows']]))

    def choices(self, point):
        return tuple(str(point.get(k)) for k, text in self.space.items() if text.startswith('['))

    def numbers(self, point):
        return [unit_of(text, point[k]) if k in point else 0.5 for k, text in self.space.items() if not text.startswith('[')]

    def curve(self, point):
        """The values and the seconds until each of them."""
        np = self.np
        at, values, seconds = self.groups[self.choices(point)]
        square = ((at - np.array(self.numbers(point)))**2).sum(1)
        near = np.argsort(square)[:self.NEAR]
        weights = np.exp(-2 * square[near] / max(square[near[-1]], 1e-12))
        weights /= weights.sum()
        return (weights @ values[near]).tolist(), (weights @ seconds[near]).tolist()


def main():
    a = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    a.add_argument('task', choices=TASKS)
    a.add_argument('out')
    a.add_argument('--points', type=int, default=500)
    a.add_argument('--budget', type=float, default=math.inf)
    a.add_argument('--orch', metavar='BUILD')
    o = a.parse_args()
    if o.task == 'lenet' and not o.orch:
        a.error('lenet needs --orch')
    epochs = TASKS[o.task][2]
    train = by_orch(o.orch, epochs) if o.task == 'lenet' else in_process(f'search_{o.task}', epochs)
    measure(o.task, train, o.points, o.budget, o.out)


if __name__ == '__main__':
    main()
