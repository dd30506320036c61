# SPDX-License-Identifier: GPL-3.0-or-later
"""The libraries that bench/folds.py compares with: what they see of a table, and their answers. Each gets the table's
columns, the GPU's facts, counts of networks where the set has none, operations, bytes and a roofline, and is tuned in
each fold by 3-fold cross-validation (by the same kind of group) over a small grid, on log ms and on log ms over the
roofline. XGBoost, LightGBM and CatBoost take part where they are installed."""
import csv
import importlib.util
import math

import numpy

FACTS = ["fp32_tflops", "fp16_tensor_tflops", "mem_gb", "bw_gbs", "sms", "cores", "boost_mhz", "l2_mb", "year"]
NAMES = ["forest", "boosting", "ridge", "mlp"] + [n for n in ("xgboost", "lightgbm", "catboost") if importlib.util.find_spec(n)]


def number(text):
    try:
        return float(text)
    except (TypeError, ValueError):
        return math.nan


class Facts:
    """of GPUs and networks, by the names that the tables use"""

    def __init__(self, data):
        def table(name):
            with open(f"{data}/{name}.csv") as f:
                return list(csv.DictReader(f))

        self.gpus = {r["gpu"]: [float(r[k] or "nan") for k in FACTS] for r in table("gpu_features")}
        self.nets = {r["net"]: r for r in table("networks")}

    def year(self, gpu):
        return self.gpus.get(gpu, [math.nan] * len(FACTS))[FACTS.index("year")]

    def of_gpu(self, gpu):
        return self.gpus.get(gpu, [math.nan] * len(FACTS))

    def of_net(self, net):
        return self.nets.get(net.replace("-v1", ""), {})


def work(row, facts):
    """operations and bytes of a row, where they can be known"""
    g = {k: number(row.get(k)) for k in row}
    get = lambda k, d=math.nan: g.get(k, d)
    rounds = 3 if row.get("opt", "none") != "none" or row.get("mode", "") == "train" else 1
    if "in_hw" in row:
        side, k = g["in_hw"], g["kernel"]
        moved = side if get("pad_same") == 1 else side - k + 1 + 2 * get("pad", 0)
        out = math.ceil(moved / g["stride"])
        return (rounds * 2 * g["batch"] * out * out * k * k * g["cin"] * g["cout"],
                rounds * 4 * (g["batch"] * (side * side * g["cin"] + out * out * g["cout"]) + k * k * g["cin"] * g["cout"]))
    if "din" in row:
        b, i, o = g["batch"], g["din"], g["dout"]
        return rounds * 2 * b * i * o, rounds * 4 * (b * (i + o) + i * o)
    if "k" in row:
        b, m, k, n = (g[x] for x in "bmkn")
        return 2 * b * m * k * n, 4 * b * (m * k + k * n + m * n)
    if "cols" in row:
        return g["rows"] * g["cols"], 12 * g["rows"] * g["cols"]
    if "hidden" in row:
        tokens, h = g["batch"] * g["seq"], g["hidden"]
        macs = g["layers"] * tokens * (4 * h * h + 2 * h * g["ff"] + 2 * g["seq"] * h) + tokens * h * g["vocab"]
        return rounds * 2 * macs, rounds * 4 * g["layers"] * tokens * (12 * h + g["heads"] * g["seq"])
    batch = get("batch", get("batch_per_gpu", get("batch_total", math.nan) / get("gpus", 1)))
    known = row if "gmacs" in row else facts.of_net(row.get("net", ""))
    rounds = 1 if row.get("mode") == "infer" else 3
    return (rounds * 2e9 * number(known.get("gmacs")) * batch,
            rounds * 4e6 * (3 * number(known.get("macts_M")) * batch + number(known.get("params_M"))))


def features(rows, spec, facts):
    hidden = set(spec[3].split()) | {spec[0], "split"}
    columns = [c for c in rows[0] if c not in hidden]
    x, names = [], []
    for c in columns:
        values = [number(r[c]) for r in rows]
        if all(math.isnan(v) == (r[c] == "") for v, r in zip(values, rows)):
            x.append(values)
            names.append((c, "number"))
        else:
            levels = {v: i for i, v in enumerate(sorted({r[c] for r in rows}))}
            x.append([levels[r[c]] for r in rows])
            names.append((c, "category"))
    known = numpy.array([facts.of_gpu(r.get("gpu")) for r in rows])
    done = numpy.array([work(r, facts) for r in rows])
    if "net" in rows[0] and "gmacs" not in rows[0]:
        for k in ("params_M", "gmacs", "macts_M"):
            x.append([number(facts.of_net(r["net"]).get(k)) for r in rows])
            names.append((k, "number"))
    roof = 1e3 * numpy.maximum(done[:, 0] / (known[:, 0] * 1e12), done[:, 1] / (known[:, 3] * 1e9))
    for i, k in enumerate(FACTS):
        x.append(known[:, i])
        names.append((k, "number"))
    for k, v in (("flops", done[:, 0]), ("bytes", done[:, 1]), ("roofline", roof)):
        x.append(v)
        names.append((k, "number"))
    return numpy.array(x, dtype=float).T, names, roof


def spread_out(x, names, train):
    """one-hot categories, logarithms and scales by the rows to learn from: for ridge and MLP"""
    out = []
    for j, (_, kind) in enumerate(names):
        v = x[:, j]
        if kind == "category":
            out += [(v == level).astype(float) for level in sorted(set(v[train]))[:60]]
            continue
        missing = numpy.isnan(v)
        v = numpy.where(missing, numpy.nanmedian(v[train]) if (~missing[train]).any() else 0, v)
        forms = [v, numpy.log(numpy.maximum(v, 1e-12))] if (v > 0).all() else [v]
        for f in forms:
            out.append((f - f[train].mean()) / (f[train].std() or 1))
        if missing.any():
            out.append(missing.astype(float))
    return numpy.clip(numpy.array(out).T, -10, 10)


def grids_of(x, names, train):
    """name of a model: what it sees, and its grid"""
    from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
    from sklearn.linear_model import Ridge
    from sklearn.neural_network import MLPRegressor
    filled = numpy.where(numpy.isnan(x), -1, x)
    spread = spread_out(x, names, train)
    grids = {
        "forest": (filled, [lambda f=f, leaf=leaf: RandomForestRegressor(150, max_features=f, min_samples_leaf=leaf, n_jobs=1, random_state=0)
                            for f, leaf in ((0.4, 1), (1.0, 1), (0.4, 3))]),
        "boosting": (x, [lambda r=r, l=l, i=i: HistGradientBoostingRegressor(learning_rate=r, max_leaf_nodes=l, max_iter=i, min_samples_leaf=5, random_state=0)
                         for r, l, i in ((0.1, 31, 300), (0.06, 15, 500), (0.06, 63, 300))]),
        "ridge": (spread, [lambda a=a: Ridge(a) for a in (0.01, 0.1, 1, 10, 100)]),
        "mlp": (spread, [lambda a=a: MLPRegressor(hidden_layer_sizes=(100, 100), alpha=a, max_iter=300, early_stopping=len(train) > 300, n_iter_no_change=15, random_state=0)
                         for a in (1e-3, 1e-1)]),
    }
    steps = ((0.1, 6, 300), (0.06, 4, 500))
    if "xgboost" in NAMES:
        from xgboost import XGBRegressor
        grids["xgboost"] = (x, [lambda r=r, d=d, i=i: XGBRegressor(learning_rate=r, max_depth=d, n_estimators=i, subsample=0.8, colsample_bynode=0.5,
                                                                   min_child_weight=4, n_jobs=1, random_state=0) for r, d, i in steps])
    if "lightgbm" in NAMES:
        from lightgbm import LGBMRegressor
        grids["lightgbm"] = (x, [lambda r=r, d=d, i=i: LGBMRegressor(learning_rate=r, num_leaves=2**d - 1, n_estimators=i, min_child_samples=5, n_jobs=1,
                                                                     random_state=0, verbose=-1) for r, d, i in steps])
    if "catboost" in NAMES:
        from catboost import CatBoostRegressor
        grids["catboost"] = (x, [lambda r=r, d=d, i=i: CatBoostRegressor(learning_rate=r, depth=d, iterations=i, thread_count=1, random_seed=0, verbose=0,
                                                                         allow_writing_files=False) for r, d, i in steps])
    return grids


def fit_and_ask(model, data, target, train, test):
    """without columns of which the rows to learn from have no value: not every library takes them"""
    known = numpy.isfinite(data[train]).any(axis=0)
    return model.fit(data[train][:, known], target[train]).predict(data[test][:, known])


def peers_answers(x, names, roof, y, groups, train, test):
    """name of a model: its answers for the rows `test`"""
    from sklearn.model_selection import GroupKFold, KFold
    grids = grids_of(x, names, train)
    log = numpy.log(y)
    offsets = [numpy.zeros(len(y))]
    if numpy.isfinite(roof).mean() > 0.5:
        offsets.append(numpy.where(numpy.isfinite(roof) & (roof > 0), numpy.log(numpy.where(roof > 0, roof, 1)), 0))
    counts = len(set(groups[train])) if groups is not None else 0
    few = numpy.array(train)
    if len(few) > 1000:
        few = numpy.random.RandomState(0).choice(few, 1000, replace=False)
    inner = list(GroupKFold(min(3, counts)).split(few, groups=groups[few]) if counts > 1 else KFold(3, shuffle=True, random_state=0).split(few))
    answers = {}
    for name, (data, models) in grids.items():
        tried = []
        for o, offset in enumerate(offsets):
            for m, make in enumerate(models):
                errors = []
                for a, b in inner:
                    a, b = few[a], few[b]
                    said = fit_and_ask(make(), data, log - offset, a, b) + offset[b]
                    errors.append(numpy.abs(numpy.exp(numpy.clip(said - log[b], -20, 20)) - 1))
                tried.append((numpy.concatenate(errors).mean(), o, m))
        _, o, m = min(tried)
        said = fit_and_ask(models[m](), data, log - offsets[o], train, test) + offsets[o][test]
        answers[name] = numpy.exp(said).tolist()
    if len(offsets) > 1:  # a constant times the roofline
        answers["constant"] = (roof[test] * numpy.median(y[train] / roof[train])).tolist()
    return answers
