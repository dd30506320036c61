#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Samplers beside Optuna's and scikit-optimize's, by trials, on functions whose minimum is known.

  bench/search.py BUILD [--functions A,B] [--methods orch:gp,optuna:tpe] [--seeds 20] [--first-seed 0]
                   [--trials 60] [--jobs 1] [--out FILE.json]
  bench/search.py BUILD --yahpo DIR [--budget SECONDS] ...

BUILD has bench_search_ask. Each method gets the same functions, seeds and number of trials. Printed: the
median regret (best value so far less the minimum) after 25, 50 and 100 % of the trials with the interval of the
median over the seeds (order statistics, 95 %), and the geometric mean over the functions; the seconds of a
suggestion. The other packages come from whatever Python runs this file; what is missing is said.

With --yahpo the functions are the tasks of YAHPO's suite `single` (bench/search_yahpo.py), one order of all tasks and methods
after the other until --budget has passed; printed: mean normalised regret and mean rank after 20, 40 and 100 trials. With --suite multi
the value is the share of the square of two normalised objectives that the front does not dominate, and the regret what it lacks of the best
search of that task. --tasks names others (lcbench/3945,...), with the first objective of the suite's.
"""
import argparse
import json
import math
import multiprocessing
import os
import random
import sys
import time

import search_peers
import search_yahpo

LOG = math.log


def branin(p):
    x, y = p['x'], p['y']
    return (y - 5.1 / (4 * math.pi**2) * x * x + 5 / math.pi * x - 6)**2 + 10 * (1 - 1 / (8 * math.pi)) * math.cos(x) + 10


HARTMANN = [1.0, 1.2, 3.0, 3.2]
H3A = [[3, 10, 30], [0.1, 10, 35], [3, 10, 30], [0.1, 10, 35]]
H3P = [[3689, 1170, 2673], [4699, 4387, 7470], [1091, 8732, 5547], [381, 5743, 8828]]
H6A = [[10, 3, 17, 3.5, 1.7, 8], [0.05, 10, 17, 0.1, 8, 14], [3, 3.5, 1.7, 10, 17, 8], [17, 8, 0.05, 10, 0.1, 14]]
H6P = [[1312, 1696, 5569, 124, 8283, 5886], [2329, 4135, 8307, 3736, 1004, 9991],
       [2348, 1451, 3522, 2883, 3047, 6650], [4047, 8828, 8732, 5743, 1091, 381]]


def hartmann(a, p):
    def f(q):
        x = [q[f'x{i}'] for i in range(len(a[0]))]
        return -sum(c * math.exp(-sum(ai * (xi - pi * 1e-4)**2 for ai, xi, pi in zip(ar, x, pr)))
                    for c, ar, pr in zip(HARTMANN, a, p))
    return f


def ackley(q):
    x = [q[f'x{i}'] for i in range(5)]
    n = len(x)
    return -20 * math.exp(-0.2 * math.sqrt(sum(v * v for v in x) / n)) - math.exp(sum(math.cos(2 * math.pi * v) for v in x) / n) + 20 + math.e


def rosenbrock(q):
    x = [q[f'x{i}'] for i in range(4)]
    return sum(100 * (x[i + 1] - x[i]**2)**2 + (1 - x[i])**2 for i in range(3))


def levy(q):
    w = [1 + (q[f'x{i}'] - 1) / 4 for i in range(4)]
    return math.sin(math.pi * w[0])**2 + sum((v - 1)**2 * (1 + 10 * math.sin(math.pi * v + 1)**2) for v in w[:-1]) + \
        (w[-1] - 1)**2 * (1 + math.sin(2 * math.pi * w[-1])**2)


# A training in miniature: each optimizer has its own best rate, momentum exists for sgd alone, width saturates.
def optimizers(q):
    best = {'sgd': 0.1, 'adam': 0.002, 'rmsprop': 0.003}[q['opt']]
    off = (LOG(q['lr']) - LOG(best)) / 1.5
    base = {'sgd': 0.05, 'adam': 0.08, 'rmsprop': 0.12}[q['opt']]
    momentum = 0.6 * (q['momentum'] - 0.9)**2 if q['opt'] == 'sgd' else 0
    return base + 1 - math.exp(-off * off / 2) + momentum + 0.05 * (LOG(q['width'] / 96) / LOG(2))**2 / 4 + 0.3 * (q['drop'] - 0.15)**2


# Kernels of a support vector machine: gamma for rbf, degree for poly.
def kernels(q):
    c = (math.log10(q['c']) - 1)**2 / 8
    if q['kernel'] == 'linear':
        return 0.30 + c
    if q['kernel'] == 'rbf':
        return 0.05 + c + 0.15 * (1 - math.exp(-((math.log10(q['gamma']) + 2.3) / 0.8)**2))
    return 0.12 + c + 0.03 * abs(q['degree'] - 3)


REAL = 'uniform({}, {})'.format
FUNCTIONS = {  # name: (space, function, minimum, standard deviation of the noise)
    'branin': ({'x': REAL(-5, 10), 'y': REAL(0, 15)}, branin, 0.39788735772973816, 0),
    'hartmann3': ({f'x{i}': REAL(0, 1) for i in range(3)}, hartmann(H3A, H3P), -3.86277978, 0),
    'hartmann6': ({f'x{i}': REAL(0, 1) for i in range(6)}, hartmann(H6A, H6P), -3.32236801, 0),
    'ackley5': ({f'x{i}': REAL(-20, 32.768) for i in range(5)}, ackley, 0, 0),
    'rosenbrock4': ({f'x{i}': REAL(-5, 10) for i in range(4)}, rosenbrock, 0, 0),
    'levy4': ({f'x{i}': REAL(-10, 10) for i in range(4)}, levy, 0, 0),
    'optimizers': ({'opt': '[sgd, adam, rmsprop]', 'lr': 'loguniform(1e-5, 1)', 'momentum': 'uniform(0, 1) if opt = sgd',
                    'width': 'int(8, 512, log)', 'drop': 'uniform(0, 0.6)'}, optimizers, 0.05, 0),
    'kernels': ({'kernel': '[linear, rbf, poly]', 'c': 'loguniform(1e-3, 1e4)', 'gamma': 'loguniform(1e-6, 1) if kernel = rbf',
                 'degree': 'int(1, 8) if kernel = poly'}, kernels, 0.05, 0),
    'branin_noisy': ({'x': REAL(-5, 10), 'y': REAL(0, 15)}, branin, 0.39788735772973816, 2.0),
    'hartmann6_noisy': ({f'x{i}': REAL(0, 1) for i in range(6)}, hartmann(H6A, H6P), -3.32236801, 0.2),
}


# The sampler was adjusted by these (with seeds from 1000 on), and not by the others.
TUNED = ['branin', 'hartmann6', 'ackley5', 'optimizers', 'branin_noisy']
LEAST = 1e-9  # regrets below count as this one in a geometric mean


# Seconds of a trial of two of the functions, from 1 to 10: with --cost-power they count, and not the trials.
COSTS = {
    'branin_noisy': lambda p: 10**((p['x'] + 5) / 15),
    'hartmann6_noisy': lambda p: 10**p['x0'],
}
MEAN_COST_S = 3.9  # of points that are spread evenly: 9 / log(10)


def search(build, method, name, seed, trials, cost_power=None):
    """The regret after each trial (of the noiseless values), or where costs count after each MEAN_COST_S; the mean seconds of a suggestion."""
    space, function, least, noise = FUNCTIONS[name]
    made = search_peers.make(method, build, space, seed, cost_power=cost_power or 0)
    rng = random.Random(seed)
    spent, regret, best_seen, best = 0.0, [], math.inf, math.inf
    paid, tried = 0.0, 0
    while paid < trials:
        tried += 1
        began = time.perf_counter()
        which, point = made.next()
        spent += time.perf_counter() - began
        true = function(point)
        seen = true + rng.gauss(0, noise)
        seconds = 1 if cost_power is None else COSTS[name](point)
        paid += 1 if cost_power is None else seconds / MEAN_COST_S
        # what a user would take is the trial that looks best
        if seen < best_seen:
            best_seen, best = seen, true
        while len(regret) < min(int(paid), trials):
            regret.append(max(best - least, 0))
        began = time.perf_counter()
        made.end(which, seen, seconds)
        spent += time.perf_counter() - began
    made.close()
    return regret, spent / tried


def median_interval(values):
    v = sorted(values)
    n = len(v)
    k = max(int((n - 1.96 * math.sqrt(n)) / 2), 0)
    return v[n // 2] if n % 2 else (v[n // 2 - 1] + v[n // 2]) / 2, v[k], v[n - 1 - k]


def run(task):
    return search(*task)


def yahpo_curve(build, method, surrogate, seed, trials):
    """The best normalised value so far after each trial; of two objectives, what the front leaves."""
    count, best, curve, points = len(surrogate.targets), math.inf, [], []
    made = search_peers.make(method, build, surrogate.space, seed, objectives=count)
    for _ in range(trials):
        which, setting = made.next()
        values = surrogate.values(setting)
        made.end(which, values if count > 1 else values[0])
        points.append(values)
        best = min(best, values[0] if count == 1 else 1 - search_yahpo.hypervolume(points))
        curve.append(best)
    made.close()
    return curve


def yahpo(o):
    tasks, without = search_yahpo.suite(o.yahpo, o.suite, o.tasks and o.tasks.split(','))
    print(f"{'tasks' if o.tasks else 'suite ' + o.suite}: {', '.join(tasks)}; without a model there: {', '.join(without)}", flush=True)
    curves, seconds, began, methods = {}, {}, time.monotonic(), [m for m in o.methods.split(',') if m]
    for file in o.add:
        with open(file) as f:
            for task, seed, row in json.load(f):
                if task in tasks:
                    curves.setdefault((task, seed), {}).update(row)
    for seed in range(o.first_seed, o.first_seed + o.seeds):
        for task, surrogate in tasks.items():
            for method in list(methods):
                if o.budget and time.monotonic() - began > o.budget:
                    break
                start = time.perf_counter()
                try:
                    own = seed * 1000 + list(tasks).index(task) if o.apart else seed
                    curves.setdefault((task, seed), {})[method] = yahpo_curve(o.build, method, surrogate, own, o.trials)
                except ImportError as error:
                    print(f'{method}: skipped: {error}', flush=True)
                    methods.remove(method)
                seconds.setdefault(method, []).append(time.perf_counter() - start)
            if o.out:
                with open(o.out, 'w') as f:
                    json.dump([[task, seed, row] for (task, seed), row in curves.items()], f)
    search_yahpo.summary(curves, [n for n in (20, 40, 100) if n <= o.trials], 0 if o.suite == 'single' else math.inf)
    print('seconds of a search of one task: ' + ', '.join(f'{m} {sum(s) / len(s):.1f}' for m, s in seconds.items()))


def main():
    a = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    a.add_argument('build')
    a.add_argument('--functions', default=','.join(FUNCTIONS))
    a.add_argument('--methods', default='orch:auto,orch:tpe,orch:sobol,optuna:tpe,optuna:gp,optuna:random,skopt:gp')
    a.add_argument('--seeds', type=int, default=20)
    a.add_argument('--first-seed', type=int, default=0)
    a.add_argument('--trials', type=int, default=60)
    a.add_argument('--jobs', type=int, default=1)
    a.add_argument('--cost-power', type=float, help='of the two functions whose trials have unequal costs: divide by the expected cost to this power')
    a.add_argument('--out')
    a.add_argument('--yahpo', metavar='DIR', help="a clone of YAHPO's data")
    a.add_argument('--suite', default='single', choices=['single', 'multi'])
    a.add_argument('--tasks', help='of YAHPO, instead of a suite: SCENARIO/INSTANCE,...')
    a.add_argument('--apart', action='store_true', help='of YAHPO: another seed for each task, so that no first points are shared')
    a.add_argument('--add', metavar='FILE.json', action='append', default=[], help='of YAHPO: show the searches of an earlier --out, too')
    a.add_argument('--budget', type=float, help='with --yahpo: seconds after which no search begins')
    o = a.parse_args()
    os.environ.update(OMP_NUM_THREADS='1', OPENBLAS_NUM_THREADS='1')
    if o.yahpo:
        return yahpo(o)
    names = o.functions.split(',') if o.cost_power is None else list(COSTS)
    table = {}
    with multiprocessing.get_context('fork').Pool(o.jobs) as pool:
        for method in o.methods.split(','):
            for name in names:
                seeds = range(o.first_seed, o.first_seed + o.seeds)
                try:
                    runs = pool.map(run, [(o.build, method, name, seed, o.trials, o.cost_power) for seed in seeds], chunksize=1)
                except ImportError as error:
                    print(f'{method}: skipped: {error}', flush=True)
                    break
                cells = [median_interval([r[0][int(share * o.trials) - 1] for r in runs]) for share in (0.25, 0.5, 1)]
                seconds = sum(r[1] for r in runs) / len(runs)
                table.setdefault(method, {})[name] = {'median': cells, 'seconds': seconds, 'final': [r[0][-1] for r in runs]}
                print(f'{method:18} {name:16} ' + '  '.join(f'{m:9.3g} [{lo:.2g}, {hi:.2g}]' for m, lo, hi in cells) +
                      f'  {seconds * 1e3:7.2f} ms', flush=True)
                if o.out:
                    with open(o.out, 'w') as f:
                        json.dump(table, f)
    for half, names in [('all', FUNCTIONS), ('tuned', TUNED), ('judged', [n for n in FUNCTIONS if n not in TUNED])]:
        for method, rows in table.items():
            rows = [r for n, r in rows.items() if n in names]
            if rows:
                means = [math.exp(sum(LOG(max(r['median'][i][0], LEAST)) for r in rows) / len(rows)) for i in range(3)]
                print(f'{method:18} geometric mean, {half:6} functions ({len(rows)}), after 25, 50 and 100 %: ' + '  '.join(f'{m:.4g}' for m in means))


if __name__ == '__main__':
    sys.exit(main())
