#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Gradient boosting of scikit-learn on its digits: the script of a search.

  bench/search_boost.py --rate 0.1 --grow depth --depth 3 --features 0.3 --rows 0.8 [--rounds 27]

After each round of two trees a class it prints the log loss on the third of the images that it does not train on.
"""
import argparse
import os
os.environ.update(OMP_NUM_THREADS='1', OPENBLAS_NUM_THREADS='1')
import numpy as np  # noqa: E402


def load():
    from sklearn.datasets import load_digits
    x, y = load_digits(return_X_y=True)
    order = np.random.default_rng(1).permutation(len(x))
    held = len(x) // 3
    return x[order[held:]], y[order[held:]], x[order[:held]], y[order[:held]]


def train(p, data, rounds, seed=0):
    """Yields the validation loss after each round."""
    from sklearn.ensemble import GradientBoostingClassifier
    x, y, vx, vy = data
    leaves = {'max_depth': p['depth']} if p['grow'] == 'depth' else {'max_depth': None, 'max_leaf_nodes': p['leaves']}
    model = GradientBoostingClassifier(learning_rate=p['rate'], max_features=p['features'], subsample=p['rows'],
                                       min_samples_leaf=p['least'], n_estimators=2, warm_start=True, random_state=seed, **leaves)
    for n in range(1, rounds + 1):
        model.set_params(n_estimators=2 * n)
        model.fit(x, y)
        chance = np.clip(np.nan_to_num(model.predict_proba(vx), nan=0), 1e-15, 1)
        yield float(-np.log(chance[np.arange(len(vy)), vy]).mean())


def main():
    a = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    a.add_argument('--rate', type=float, default=0.1)
    a.add_argument('--grow', choices=['depth', 'leaves'], default='depth')
    a.add_argument('--depth', type=int, default=3)
    a.add_argument('--leaves', type=int, default=8)
    a.add_argument('--features', type=float, default=0.3)
    a.add_argument('--rows', type=float, default=0.8)
    a.add_argument('--least', type=int, default=1)
    a.add_argument('--rounds', type=int, default=27)
    o = a.parse_args()
    np.seterr(all='ignore')
    for n, loss in enumerate(train(vars(o), load(), o.rounds), 1):
        print(f'step {n}/{o.rounds} val_loss {loss:.5f}', flush=True)


if __name__ == '__main__':
    main()
