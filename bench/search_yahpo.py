# SPDX-License-Identifier: GPL-3.0-or-later
"""The suites of YAHPO Gym 1.0 (Pfisterer et al. 2022, Apache-2.0) for bench/search.py --yahpo DIR: surrogates as ONNX files, with their spaces.

DIR is a clone of github.com/slds-lmu/yahpo_data, or its git folder without a work tree. Only scenarios whose model is
there are taken; the others are named. Needs onnxruntime and NumPy. Fidelities are at their most (epoch, trainsize, repl), as
the suites define them. Values are normalised by the minimum and maximum of global_statistics and minimised.
"""
import csv
import io
import itertools
import json
import math
import os
import random
import subprocess

from search_tasks import range_of

# y names that are better when large; the order of the model's inputs and outputs is that of yahpo_gym 1.0.2
LARGE = {'val_accuracy', 'val_balanced_accuracy', 'test_balanced_accuracy', 'acc', 'bac', 'auc', 'f1'}
RBV2 = ['acc', 'bac', 'auc', 'brier', 'f1', 'logloss', 'timetrain', 'timepredict', 'memory']
MODELS = {  # scenario: (the parameter that names the instance, names of y, numbers, further choices, fidelities)
    'lcbench': ('OpenML_task_id', ['time', 'val_accuracy', 'val_cross_entropy', 'val_balanced_accuracy', 'test_cross_entropy', 'test_balanced_accuracy'],
                ['epoch', 'batch_size', 'learning_rate', 'momentum', 'weight_decay', 'num_layers', 'max_units', 'max_dropout'], [], {'epoch': 52}),
    'rbv2_xgboost': ('task_id', RBV2, ['nrounds', 'eta', 'gamma', 'lambda', 'alpha', 'subsample', 'max_depth', 'min_child_weight', 'colsample_bytree',
                                       'colsample_bylevel', 'rate_drop', 'skip_drop', 'trainsize', 'repl'], ['booster', 'num.impute.selected.cpo'],
                     {'trainsize': 1, 'repl': 10}),
    'rbv2_rpart': ('task_id', RBV2, ['cp', 'maxdepth', 'minbucket', 'minsplit', 'trainsize', 'repl'], ['num.impute.selected.cpo'],
                   {'trainsize': 1, 'repl': 10}),
    'iaml_glmnet': ('task_id', ['mmce', 'f1', 'auc', 'logloss', 'ramtrain', 'rammodel', 'rampredict', 'timetrain', 'timepredict', 'mec', 'ias', 'nf'],
                    ['alpha', 's', 'trainsize'], [], {'trainsize': 1}),
}


def read(folder, path):
    if os.path.exists(f'{folder}/{path}'):
        with open(f'{folder}/{path}', 'rb') as f:
            return f.read()
    got = subprocess.run(['git', f'--git-dir={folder}', 'show', f'HEAD:{path}'], capture_output=True)
    return got.stdout if got.returncode == 0 else None


def space_of(config, fixed):
    """The space as orch writes it, without the fidelities and the instance."""
    when = {}
    for c in config['conditions']:
        values = c['values'] if c['type'] == 'IN' else [c['value']]
        when[c['child']] = f" if {c['parent']} = {values[0]}" if len(values) == 1 else f" if {c['parent']} in [{', '.join(values)}]"
    ranges = {}
    for p in config['hyperparameters']:
        if p['name'] in fixed:
            continue
        if p['type'] == 'categorical':
            text = f"[{', '.join(p['choices'])}]"
        elif p['type'] == 'uniform_int':
            text = f"int({p['lower']}, {p['upper']}{', log' if p['log'] else ''})"
        else:
            text = f"{'loguniform' if p['log'] else 'uniform'}({p['lower']!r}, {p['upper']!r})"
        ranges[p['name']] = text + when.get(p['name'], '')
    # a parent comes before what exists only under it
    return dict(sorted(ranges.items(), key=lambda item: ' if ' in item[1]))


class Surrogate:
    """One instance: values() of a setting, each from 0 (the best that is known) to 1."""
    def __init__(self, folder, scenario, instance, targets):
        self.folder, self.scenario, self.targets, self.session = folder, scenario, targets, None
        key, self.names, self.numbers, choices, fidelities = MODELS[scenario]
        self.fixed = {key: instance, **fidelities}
        self.choices = [key] + choices
        config = json.loads(read(folder, f'{scenario}/config_space.json'))
        self.space = space_of(config, self.fixed)
        self.encoding = json.loads(read(folder, f'{scenario}/encoding.json'))
        self.ends = {}
        for row in csv.DictReader(io.StringIO(read(folder, 'global_statistics/instance_target_statistics.csv').decode())):
            if (row['scenario'], row['instance']) == (scenario, instance):
                self.ends[row['metric'], row['statistic']] = float(row['value'])

    def ask(self, setting, fidelities):
        """The model's row of outputs by name for each dict of fidelities."""
        import numpy
        import onnxruntime
        if not self.session:
            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = options.inter_op_num_threads = 1
            self.session = onnxruntime.InferenceSession(read(self.folder, f'{self.scenario}/model.onnx'), options, providers=['CPUExecutionProvider'])
        rows = [{**setting, **self.fixed, **f} for f in fidelities]
        words = numpy.array([[self.encoding[n][str(full.get(n, '#na#'))] for n in self.choices] for full in rows], dtype=numpy.int32)
        numbers = numpy.array([[full.get(n, 0) for n in self.numbers] for full in rows], dtype=numpy.float32)
        inputs = [i.name for i in self.session.get_inputs()]
        return [dict(zip(self.names, row)) for row in self.session.run(None, {inputs[0]: words, inputs[1]: numbers})[0].tolist()]

    def values(self, setting):
        got = self.ask(setting, [{}])[0]
        return [self.share(name, got[name]) for name in self.targets]

    def share(self, name, value):
        low, high = self.ends[name, 'min'], self.ends[name, 'max']
        return (high - value if name in LARGE else value - low) / (high - low)


class Curves:
    """A task of lcbench as a table of trainings (search_tasks.Table): validation accuracy and seconds after each epoch."""
    def __init__(self, folder, task):
        scenario, _, instance = task.partition('/')
        self.surrogate = Surrogate(folder, scenario, instance, ['val_accuracy'])
        self.name, self.space, self.direction, self.epochs, self.count = task, self.surrogate.space, 'min', 52, 100
        rng = random.Random(0)
        settings = [{k: self.draw(text, rng) for k, text in self.space.items()} for _ in range(self.count)]
        self.mean_s = sum(self.curve(setting)[1][-1] for setting in settings) / self.count

    @staticmethod
    def draw(text, rng):
        kind, args, _ = range_of(text)
        low, high, is_log = float(args[0]), float(args[1]), 'log' in kind or args[2:] == ['log']
        value = math.exp(rng.uniform(math.log(low), math.log(high))) if is_log else rng.uniform(low, high)
        return round(value) if kind == 'int' else value

    def curve(self, setting):
        rows = self.surrogate.ask(setting, [{'epoch': n + 1} for n in range(self.epochs)])
        seconds = list(itertools.accumulate((row['time'] for row in rows), max))
        return [self.surrogate.share('val_accuracy', row['val_accuracy']) for row in rows], seconds


def suite(folder, name, only=None):
    """({task: Surrogate}, [scenarios that are left out]) of `single` or `multi`; or of the tasks `only`, with a scenario's first target, or with
    their own (lcbench/3945:val_accuracy+time)."""
    tasks, without = {}, []
    rows = json.loads(read(folder, f'benchmark_suites/v1.0/{name}.json'))
    if only:
        targets = {'iaml_glmnet': ['mmce'], **{row['scenario']: row['target'] for row in rows}}
        parts = [(*task.partition(':')[0].split('/'), task.partition(':')[2].split('+')) for task in only]
        rows = [{'scenario': s, 'instance': i, 'target': own if own != [''] else targets[s]} for s, i, own in parts]
    for row in rows:
        scenario = row['scenario']
        if scenario in MODELS and read(folder, f'{scenario}/model.onnx'):
            tasks[f"{scenario}/{row['instance']}"] = Surrogate(folder, scenario, row['instance'], row['target'])
        else:
            without.append(f"{scenario}/{row['instance']}")
    return tasks, without


def hypervolume(points):
    """Of two or more values from 0 (best) to 1 each, the share of the square, or cube, between a front and (1, 1)."""
    if len(points[0]) > 2:  # slices of equal last values, each as thick as the next one is away
        ends = sorted({min(max(p[-1], 0), 1) for p in points} | {1})
        return sum((far - near) * hypervolume([p[:-1] for p in points if p[-1] <= near]) for near, far in zip(ends, ends[1:]))
    area, low = 0.0, 1.0
    for x, y in sorted(points):
        if y < low and x < 1:
            area += (1 - x) * (low - max(y, 0))
            low = max(y, 0)
    return area


def interval(values, rng, draws=2000):
    """Mean with a bootstrap interval of 95 %."""
    means = sorted(sum(rng.choices(values, k=len(values))) / len(values) for _ in range(draws))
    return sum(values) / len(values), means[int(0.025 * draws)], means[int(0.975 * draws)]


def ratio(pairs, rng, draws=2000):
    """Of pairs (a, b), the sum of a over the sum of b with a bootstrap interval of 95 %."""
    def one(some):
        return sum(a for a, _ in some) / max(sum(b for _, b in some), 1e-9)
    got = sorted(one(rng.choices(pairs, k=len(pairs))) for _ in range(draws))
    return one(pairs), got[int(0.025 * draws)], got[int(0.975 * draws)]


def shared_rank(row, method):
    """From 1; equal values share the mean of their ranks."""
    return 1 + sum(v < row[method] for v in row.values()) + (sum(v == row[method] for v in row.values()) - 1) / 2


def summary(curves, at, known=0):
    """Prints the mean normalised regret and the mean rank after each number of trials, and orch's regret as a share of each other one's, of
    all tasks and of each scenario. `curves`: {(task, seed): {method: [value]}}; only what all methods have run counts, and a task's least
    value of all methods and seeds is its optimum where that is below `known`."""
    methods = sorted({m for row in curves.values() for m in row})
    whole = {k: row for k, row in curves.items() if len(row) == len(methods)}
    tasks = sorted({task for task, _ in whole})
    if not tasks:
        return
    least = {t: min(known, min(min(c) for (task, _), row in curves.items() if task == t for c in row.values())) for t in tasks}
    print(f'{len(tasks)} tasks, {len(whole)} orders of {len(methods)} methods; mean [95 % bootstrap interval over the orders]')
    for n in at:
        named = [(task, {m: c[n - 1] - least[task] for m, c in row.items()}) for (task, _), row in whole.items() if min(map(len, row.values())) >= n]
        rows = [row for _, row in named]
        for m in methods if rows else []:
            rng = random.Random(0)
            regret, low, high = interval([row[m] for row in rows], rng)
            rank, first, last = interval([shared_rank(row, m) for row in rows], rng)
            print(f'{n:4} trials  {m:18} regret {regret:.4f} [{low:.4f}, {high:.4f}]  rank {rank:.2f} [{first:.2f}, {last:.2f}]')
        for m in methods if rows and 'orch:auto' in methods else []:
            cells = []
            for scenario in ['', *sorted({task.partition('/')[0] for task, _ in named})] if m != 'orch:auto' else []:
                pairs = [(row['orch:auto'], row[m]) for task, row in named if task.startswith(scenario)]
                cells.append('{} {:.2f} [{:.2f}, {:.2f}] ({})'.format(scenario or 'all', *ratio(pairs, random.Random(0)), len(pairs)))
            if cells:
                print(f"{n:4} trials  orch:auto / {m}: {', '.join(cells)}")
