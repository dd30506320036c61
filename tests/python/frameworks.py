# SPDX-License-Identifier: MIT
"""frameworks.py NAME: trains something tiny with a framework and its callback of orch.callbacks, and compares every
series of the recorded run with the framework's own history. Exit status 77: the framework is not here."""
import importlib
import os
import sqlite3
import sys

os.environ.setdefault("KERAS_BACKEND", "torch")
os.environ.setdefault("OMP_NUM_THREADS", "1")
import orch  # noqa: E402
from orch import callbacks  # noqa: E402


def numbers(count, seed=1):
    """Rows of four numbers, and their targets 0 or 1: the same ones each time."""
    rows, state = [], seed
    for _ in range(count * 4):
        state = (state * 1103515245 + 12345) % 2**31
        rows.append(state / 2**31 - 0.5)
    rows = [rows[i:i + 4] for i in range(0, len(rows), 4)]
    return rows, [int(r[0] + r[1] * r[2] > 0) for r in rows]


def arrays(count, seed=1):
    import numpy

    rows, targets = numbers(count, seed)
    return numpy.array(rows, dtype="float32"), numpy.array(targets, dtype="float32")


def listed(history):
    return {name: [(at, float(value)) for at, value in enumerate(values)] for name, values in history.items()}


def keras(run):
    import keras

    model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse", metrics=["mae"])
    x, y = arrays(32)
    history = model.fit(x, y, epochs=4, verbose=0, validation_split=0.25, callbacks=[callbacks.Keras(run)])
    return listed(history.history)


def lightning(run):
    import lightning.pytorch as pl
    import torch

    x, y = map(torch.tensor, arrays(32))
    seen = {}

    class Model(pl.LightningModule):
        def __init__(self):
            super().__init__()
            self.save_hyperparameters({"width": 4})
            self.layer = torch.nn.Linear(4, 1)

        def training_step(self, batch, _):
            loss = ((self.layer(batch[0])[:, 0] - batch[1])**2).mean()
            self.log("train/loss", loss)
            seen.setdefault("train/loss", []).append((self.global_step, float(loss.detach())))
            return loss

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=0.1)

    data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=8)
    pl.Trainer(max_epochs=3, logger=callbacks.Lightning(run), enable_checkpointing=False, log_every_n_steps=1,
               enable_progress_bar=False, enable_model_summary=False, accelerator="cpu").fit(Model(), data)
    seen["epoch"] = [(step, float(step // 4)) for step, _ in seen["train/loss"]]
    return seen


def transformers(run):
    import torch
    from transformers import Trainer, TrainingArguments

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(4, 1)

        def forward(self, x, labels):
            out = self.layer(x)[:, 0]
            return {"loss": ((out - labels)**2).mean(), "logits": out}

    x, y = numbers(32)
    data = [{"x": a, "labels": float(b)} for a, b in zip(x, y)]

    def collate(rows):
        return {"x": torch.tensor([r["x"] for r in rows]), "labels": torch.tensor([r["labels"] for r in rows])}

    trainer = Trainer(Model(), TrainingArguments("out", num_train_epochs=2, per_device_train_batch_size=8, logging_steps=1,
                                                 report_to=[], save_strategy="no", eval_strategy="epoch", use_cpu=True,
                                                 disable_tqdm=True, remove_unused_columns=False),
                      collate, data, data[:8], callbacks=[callbacks.Transformers(run)])
    trainer.train()
    seen = {}
    for entry in trainer.state.log_history:
        for name, value in entry.items():
            if name != "step":
                points = seen.setdefault(name, {})
                points[entry["step"]] = float(value)
    return {name: sorted(points.items()) for name, points in seen.items()}


def xgboost(run):
    import xgboost

    x, y = arrays(64)
    data, history = xgboost.DMatrix(x, y), {}
    xgboost.train({"eval_metric": ["rmse", "mae"], "nthread": 1}, data, 6, evals=[(data, "train")], evals_result=history,
                  verbose_eval=False, callbacks=[callbacks.XGBoost(run)])
    return listed({"train." + name: values for name, values in history["train"].items()})


def xgboost_cv(run):
    import xgboost

    x, y = arrays(64)
    table = xgboost.cv({"nthread": 1}, xgboost.DMatrix(x, y), 5, nfold=2, as_pandas=False, callbacks=[callbacks.XGBoost(run)])
    return listed({name.replace("-", ".").replace("rmse.mean", "rmse"): values for name, values in table.items()})


def lightgbm(run):
    import lightgbm

    x, y = arrays(64)
    history = {}
    data = lightgbm.Dataset(x, y)
    lightgbm.train({"metric": ["l2", "l1"], "verbosity": -1, "num_threads": 1}, data, 6, valid_sets=[data], valid_names=["train"],
                   callbacks=[lightgbm.record_evaluation(history), callbacks.LightGBM(run)])
    return listed({"train." + name: values for name, values in history["train"].items()})


def lightgbm_cv(run):
    import lightgbm

    x, y = arrays(64)
    history = lightgbm.cv({"metric": "l2", "verbosity": -1, "num_threads": 1, "objective": "regression"}, lightgbm.Dataset(x, y),
                          5, nfold=2, stratified=False, callbacks=[callbacks.LightGBM(run)])
    return listed({name.replace(" ", "."): values for name, values in history.items()})


def catboost(run):
    import catboost

    x, y = arrays(64)
    model = catboost.CatBoostRegressor(iterations=7, verbose=False, thread_count=1, allow_writing_files=False,
                                       custom_metric=["MAE"])
    model.fit(x, y, eval_set=(x[:16], y[:16]), callbacks=[callbacks.CatBoost(run)])
    return listed({"%s.%s" % (data, name): values for data, metrics in model.evals_result_.items()
                   for name, values in metrics.items()})


def fastai(run):
    import torch
    from fastai.callback.progress import ProgressCallback  # noqa: F401: no_bar()
    from fastai.data.core import DataLoaders
    from fastai.learner import Learner

    x, y = map(torch.tensor, arrays(32))
    data = torch.utils.data.TensorDataset(x, y[:, None])
    loaders = DataLoaders(*(torch.utils.data.DataLoader(data, batch_size=8) for _ in range(2)), device="cpu")
    learner = Learner(loaders, torch.nn.Linear(4, 1), torch.nn.functional.mse_loss, metrics=[lambda a, b: (a - b).abs().mean()],
                      cbs=[callbacks.Fastai(run)])
    with learner.no_bar(), learner.no_logging():
        learner.fit(3)
    names = [name for name in learner.recorder.metric_names if name not in ("epoch", "time")]
    return listed(dict(zip(names, zip(*learner.recorder.values))))


def stable_baselines3(run):
    import csv

    from stable_baselines3 import A2C
    from stable_baselines3.common.logger import configure

    model = A2C("MlpPolicy", "CartPole-v1", device="cpu", seed=1)
    model.set_logger(configure("out", ["csv"]))
    model.learn(1200, log_interval=50, callback=callbacks.StableBaselines(run))
    seen = {}
    with open("out/progress.csv") as file:
        for row in csv.DictReader(file):
            for name, value in row.items():
                if value:
                    seen.setdefault(name, []).append((int(row["time/total_timesteps"]), float(value)))
    return seen


def sklearn(run):
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV

    x, y = arrays(64)
    search = GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0, 10.0]}, cv=2).fit(x, y)
    callbacks.log_search(run, search)
    return listed({name: values for name, values in search.cv_results_.items() if name != "params"})


def recorded():
    """The series of the last run, with all their digits."""
    db, found = sqlite3.connect(".orch/results.db"), {}
    for name, step, value in db.execute("SELECT n.name, x.step, x.value FROM metric x JOIN metric_name n ON n.id = x.name_id"
                                        " WHERE x.run = (SELECT max(id) FROM run) ORDER BY x.step"):
        found.setdefault(name, []).append((step, float("nan") if value is None else value))
    return {name: points for name, points in found.items() if not name.startswith("system/")}


def main(name):
    try:
        importlib.import_module(name.replace("_cv", ""))
    except ImportError as problem:
        print("%s: %s" % (name, problem))
        return 77
    with orch.start(framework=name, experiment=name) as run:
        wanted = globals()[name](run)
    assert wanted and all(wanted.values()), "no history"
    found = recorded()
    wanted = {orch._label(metric): points for metric, points in wanted.items()}
    assert sorted(found) == sorted(wanted), (sorted(found), sorted(wanted))
    for metric, points in wanted.items():
        assert [repr(point) for point in found[metric]] == [repr(point) for point in points], (metric, points, found[metric])
    print("%s: %d series" % (name, len(wanted)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
