#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a rule that stops trials saves in a real search: small networks on scikit-learn's digits, the same points each time.

  bench/stop_search.py BUILD [--trials 30] [--seed 0] [--jobs 2] RULE...

RULE is as in a recipe ('forecast(p=0.05)'), or 'none'. For each one `orch run` searches in a new store, with points drawn
at random, which do not depend on the results. Printed: trials that ended and that were pruned, reports (values of
the metric) of all trials, seconds of processor time of all trials, elapsed seconds, and the best accuracy. Needs scikit-learn in
the Python that runs this file.
"""
import argparse
import glob
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
import time

TRAIN = '''
import json, os, warnings
os.environ['OMP_NUM_THREADS'] = os.environ['OPENBLAS_NUM_THREADS'] = '1'
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
warnings.filterwarnings('ignore')
p = json.loads(os.environ['ORCH_PARAMS'])
x, y = load_digits(return_X_y=True)
x, vx, y, vy = train_test_split(x / 16, y, test_size=1 / 3, random_state=1)
model = MLPClassifier(solver='sgd', learning_rate_init=p['lr'], momentum=p['momentum'], alpha=p['alpha'],
                      hidden_layer_sizes=(p['width'],) * 2, batch_size=16, random_state=0)
for epoch in range(1, 28):
    for _ in range(6):  # passes over the data, so that a report takes a fifth of a second
        model.partial_fit(x, y, classes=np.arange(10))
    print(f'epoch {epoch}/27 val_accuracy {model.score(vx, vy):.5f}', flush=True)
'''
PLUGIN = '''plugin: digits
version: 1.0.0
about: a network on the digits
metrics_from: lines
command: [PYTHON, train.py]
parameters:
  lr: { type: real, min: 0, max: 1, default: 0.1 }
  momentum: { type: real, min: 0, max: 1, default: 0.9 }
  alpha: { type: real, min: 0, max: 1, default: 0.0001 }
  width: { type: int, min: 1, max: 1000, default: 32 }
metrics:
  val_accuracy: { better: max, step: epoch }
'''
RECIPE = '''format: 1
recipe: digits
experiments:
  tune:
    plugin: ./digits.plugin
    search:
      lr: loguniform(1e-4, 0.2)
      momentum: uniform(0, 0.98)
      alpha: loguniform(1e-6, 0.1)
      width: int(16, 128, log)
    objective:
      metric: max last val_accuracy
      trials: %d
      sampler: random
      seed: %d
'''


def search(orch, args, rule):
    with tempfile.TemporaryDirectory(prefix='orch-bench-') as folder:
        def write(name, text):
            with open(os.path.join(folder, name), 'w') as f:
                f.write(text)
        write('train.py', TRAIN)
        write('digits.plugin', PLUGIN.replace('PYTHON', sys.executable))
        write('digits.recipe', RECIPE % (args.trials, args.seed) + ('' if rule == 'none' else f'      stop: {rule}\n'))
        subprocess.run(['git', 'init', '-q', folder], check=True)
        begin = time.monotonic()
        run = subprocess.run([orch, 'run', 'digits.recipe', '-j', str(args.jobs), '--keep-going'], cwd=folder, text=True, capture_output=True)
        elapsed = time.monotonic() - begin
        if run.returncode not in (0, 1):
            sys.exit(run.stderr)
        db = sqlite3.connect(glob.glob(os.path.join(folder, '.orch', '*.db'))[0])
        states = dict(db.execute('SELECT state, count(*) FROM run GROUP BY state'))
        epochs = db.execute("SELECT count(*) FROM metric m JOIN metric_name n ON n.id = m.name_id WHERE n.name = 'val_accuracy'").fetchone()[0]
        cpu = db.execute("SELECT sum(json_extract(facts, '$.user_s') + json_extract(facts, '$.system_s')) FROM run").fetchone()[0]
        best = re.search(r'best val_accuracy of .*: last ([0-9.]+)', run.stderr)
        print(f"{rule:36} {states.get('ok', 0):5} {states.get('pruned', 0):6} {sum(states.values()) - states.get('ok', 0) - states.get('pruned', 0):6}"
              f" {epochs:6} {cpu or float('nan'):8.1f} {elapsed:8.1f} {best.group(1) if best else '-':>8}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('build')
    parser.add_argument('rules', nargs='+')
    parser.add_argument('--trials', type=int, default=30)
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--jobs', type=int, default=2)
    args = parser.parse_args()
    print(f"{'rule':36} {'ended':>5} {'pruned':>6} {'failed':>6} {'values':>6} {'cpu_s':>8} {'wall_s':>8} {'best':>8}")
    for rule in args.rules:
        search(os.path.join(os.path.abspath(args.build), 'orch'), args, rule)


if __name__ == '__main__':
    main()
