#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Searches beside Optuna's and others', by trials and by seconds, on tables of measured trainings (bench/search_tasks.py).

  bench/search_replay.py BUILD TABLE.json|yahpo:DIR:lcbench/3945... [--methods 'orch:auto+asha(min=1, factor=3),optuna:tpe+median'] [--seeds 20]
                         [--first-seed 0] [--trainings 30] [--trials 150] [--jobs 1] [--at-once 1] [--no-promotion | --start-over] [--out FILE.json]

A search has the time of so many trainings of the table's mean length, and at most --trials trials. Its trials are answered from the table: a search
sees the values one after the other, may stop, and pays for those that it saw; a trial that was stopped and goes on after all pays for what is left (with
`--start-over` for all values once more; with `--no-promotion` none goes on). Its result is the best of the trials that ran to their end. The seconds that
a search takes to choose are printed, and not part of its time. Methods are separated by `;`, or by commas where no rule has one.

Printed: the median regret (to the best value that any method found in the table) with the 95 % interval of the median over the seeds, after so many
trials and after a quarter, a half and all of the time; the geometric mean over the tables; and how much less time each of orch's searches takes to reach the
median value with which another one ends, with the interval over 1,000 samples of the seeds (0: the median of its searches never does).
"""
import argparse
import heapq
import json
import math
import multiprocessing
import os
import random
import time

import search_peers
import search_tasks
import search_yahpo
from search import median_interval

METHODS = ['orch:auto', 'orch:auto+asha(min=1, factor=3)', 'orch:auto+forecast(p=0.05)', 'orch:auto+median(warmup=5, startup=5)', 'orch:random',
           'optuna:tpe', 'optuna:tpe+median', 'optuna:tpe+asha', 'optuna:tpe+hyperband', 'optuna:gp', 'optuna:gp+median', 'optuna:gp+asha',
           'optuna:random+asha', 'skopt:gp']
LEAST = 1e-5  # regrets below count as this one in a geometric mean
TABLES = {}


def table_of(path):
    """The table of a file, or of a task of YAHPO's lcbench: yahpo:DIR:lcbench/3945."""
    word, _, rest = path.partition(':')
    if path not in TABLES:
        TABLES[path] = search_yahpo.Curves(*rest.rsplit(':', 1)) if word == 'yahpo' else search_tasks.Table(path)
    return TABLES[path]


def search(task):
    """[(seconds, value of a trial that ended or None)] after each trial; the mean seconds of a suggestion."""
    build, path, method, seed, trainings, trials, how, at_once = task
    table = table_of(path)
    budget, now, trace, asked = trainings * table.mean_s / at_once, 0.0, [], 0.0
    stopped, points = {}, 0
    running, pushed = [], 0  # a heap of the next values: (when, order, trial, its values, their seconds, their count, when it began)
    made = search_peers.make(method, build, table.space, seed, table.direction, epochs=table.epochs)
    while True:
        while len(running) < at_once and now < budget:
            began = time.perf_counter()
            which = None if how == 'never' else made.promote()
            if which is None:
                if points == trials:
                    break
                which, point = made.next()
                points += 1
                values, seconds = table.curve(point)
                first = 0
            else:
                values, seconds, first = stopped[which]
            asked += time.perf_counter() - began
            start = now - (seconds[first - 1] if first and how == 'checkpoint' else 0)
            heapq.heappush(running, (start + seconds[first], pushed, which, values, seconds, first + 1, start))
            pushed += 1
        if not running:
            break
        now, order, which, values, seconds, n, start = heapq.heappop(running)
        if n < len(values) and not made.report(which, n, values[n - 1]):
            heapq.heappush(running, (start + seconds[n], order, which, values, seconds, n + 1, start))
            continue
        if n < len(values):
            made.stop(which, values[n - 1], seconds[n - 1])
            stopped[which] = values, seconds, n
        else:
            made.end(which, values[-1], seconds[n - 1])
        trace.append((now, values[-1] if n == len(values) else None))
    made.close()
    return trace, asked / points, budget


def best_by(trace, direction, limit, by_trials):
    """The best value after so many trials, or seconds; the worst one that is thinkable where there is none yet."""
    got = [v for i, (s, v) in enumerate(trace, 1) if v is not None and (i if by_trials else s) <= limit]
    return (max if direction == 'max' else min)(got, default=math.inf if direction == 'min' else -math.inf)


def regrets(runs, direction, best, limit, by_trials):
    worst = 10 * abs(best) + 1  # of a search that has no result yet
    return [min(abs(best_by(trace, direction, limit, by_trials) - best), worst) for trace, _, _ in runs]


def seconds_to(runs, direction, target):
    """The time after which the median of the searches is as good; infinite when it never is."""
    times = []
    for trace, _, _ in runs:
        times.append(next((s for s, v in trace if v is not None and (v >= target if direction == 'max' else v <= target)), math.inf))
    times.sort()
    return times[len(times) // 2]


def faster(ours, theirs, direction, budget):
    """How many times less device time we need to end where they end, by the medians; (ratio, low, high)."""
    def ratio(a, b):
        finals = sorted((best_by(t, direction, budget, False) for t, _, _ in b), reverse=direction == 'max')
        target = finals[len(finals) // 2]
        return seconds_to(b, direction, target) / seconds_to(a, direction, target)
    rng = random.Random(0)
    samples = sorted(ratio([rng.choice(ours) for _ in ours], [rng.choice(theirs) for _ in theirs]) for _ in range(1000))
    return ratio(ours, theirs), samples[25], samples[974]


def show(runs, tables, trainings):
    means = {}
    for path, table in tables.items():
        here = {m: r for (p, m), r in runs.items() if p == path}
        d = table.direction
        best = (max if d == 'max' else min)(best_by(t, d, math.inf, True) for r in here.values() for t, _, _ in r)
        print(f'\n{table.name}: {table.count} trainings, mean {table.mean_s:.2f} s; the best value is {best:.5f}')
        print(f"{'':38} {'trials':>6} {f'after {trainings} trials':>24} {'1/4 of the time':>24} {'1/2':>24} {'all':>24} {'choice':>9}")
        for method, r in here.items():
            budget = r[0][2]
            cells = [median_interval(regrets(r, d, best, limit, by)) for limit, by in
                     ((trainings, True), (budget / 4, False), (budget / 2, False), (budget, False))]
            for k, cell in enumerate(cells):
                means.setdefault((method, k), []).append(max(cell[0], LEAST))
            print(f'{method:38} {sum(len(t) for t, _, _ in r) / len(r):6.0f} ' + ' '.join(f'{f"{m:.4f} [{lo:.4f}, {hi:.4f}]":>24}' for m, lo, hi in cells) +
                  f' {1e3 * sum(a for _, a, _ in r) / len(r):6.1f} ms', flush=True)
    print('\ngeometric mean over the tables')
    for method in dict.fromkeys(m for m, _ in means):
        rows = [means[method, k] for k in range(4)]
        print(f'{method:38}' + ' '.join(f'{math.exp(sum(map(math.log, r)) / len(r)):12.5f}' for r in rows) + f'  ({len(rows[0])} tables)')
    print('\ntimes less device time to reach the value with which the other one ends')
    for ours in (m for m in dict.fromkeys(m for _, m in runs) if m.startswith('orch:auto')):
        for theirs in (m for m in dict.fromkeys(m for _, m in runs) if not m.startswith('orch:auto')):
            cells = [faster(runs[p, ours], runs[p, theirs], t.direction, runs[p, ours][0][2]) for p, t in tables.items()
                     if (p, ours) in runs and (p, theirs) in runs]
            whole = math.exp(sum(math.log(max(c[0], 1e-3)) for c in cells) / len(cells)) if cells else math.nan
            print(f'{ours:38} {theirs:24} {whole:6.2f}   ' + '   '.join(f'{m:.2f} [{lo:.2f}, {hi:.2f}]' for m, lo, hi in cells))


def main():
    a = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    a.add_argument('build')
    a.add_argument('tables', nargs='+')
    a.add_argument('--methods')
    a.add_argument('--seeds', type=int, default=20)
    a.add_argument('--first-seed', type=int, default=0)
    a.add_argument('--trainings', type=int, default=30)
    a.add_argument('--trials', type=int, default=150)
    a.add_argument('--jobs', type=int, default=1)
    a.add_argument('--at-once', type=int, default=1, help='trials that run at the same time; a search has so much less time')
    a.add_argument('--start-over', dest='how', action='store_const', const='start', default='checkpoint')
    a.add_argument('--no-promotion', dest='how', action='store_const', const='never')
    a.add_argument('--add', metavar='FILE.json', action='append', default=[], help='show the searches of an earlier --out, too')
    a.add_argument('--out')
    o = a.parse_args()
    os.environ.update(OMP_NUM_THREADS='1', OPENBLAS_NUM_THREADS='1')
    methods = METHODS if o.methods is None else [m for m in o.methods.split(';' if ';' in o.methods or '(' in o.methods else ',') if m]
    tables = {path: table_of(path) for path in o.tables}
    runs = {}
    for file in o.add:
        with open(file) as f:
            runs.update({(p, m): r for p, m, r in json.load(f) if p in tables})
    with multiprocessing.get_context('fork').Pool(o.jobs) as pool:
        for method in methods:
            for path in tables:
                seeds = range(o.first_seed, o.first_seed + o.seeds)
                try:
                    runs[path, method] = pool.map(search, [(o.build, path, method, seed, o.trainings, o.trials, o.how, o.at_once) for seed in seeds], chunksize=1)
                except ImportError as error:
                    print(f'{method}: skipped: {error}', flush=True)
                    break
                if o.out:
                    with open(o.out, 'w') as f:
                        json.dump([[p, m, r] for (p, m), r in runs.items()], f)
    show(runs, tables, o.trainings)


if __name__ == '__main__':
    main()
