# SPDX-License-Identifier: GPL-3.0-or-later
"""Fits a forest of scikit-learn to random rows. usage: forest.py --trees N --rows N --columns N"""
import argparse

import numpy as np
from sklearn.ensemble import RandomForestRegressor

p = argparse.ArgumentParser()
for name in ("trees", "rows", "columns"):
    p.add_argument("--" + name, type=int, required=True)
a = p.parse_args()
rng = np.random.default_rng(0)
x = rng.random((a.rows, a.columns))
RandomForestRegressor(a.trees, random_state=0).fit(x, x[:, 0] + rng.random(a.rows))
print("done", 1)
