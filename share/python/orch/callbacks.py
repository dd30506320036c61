# SPDX-License-Identifier: MIT
"""Callbacks of training frameworks: each logs what the framework logs, under its names and steps.

    from orch.callbacks import Keras

    model.fit(x, y, callbacks=[Keras(orch.start(lr=0.1))])

A framework is imported when its callback is. Where it can end a training, it does so once
run.should_stop() is true."""
import sys

import orch

__all__ = ["Keras", "Lightning", "Transformers", "XGBoost", "LightGBM", "CatBoost", "Fastai",
           "StableBaselines", "log_search"]


def __getattr__(name):
    make = _MAKERS.get(name)
    if make is None:
        raise AttributeError("module 'orch.callbacks' has no '%s': it has %s"
                             % (name, ", ".join(__all__)))
    try:
        kind = make()
    except ImportError as problem:
        raise orch.Error("orch: callback '%s' needs its framework: %s\n  hint: install it into the "
                         "environment of this Python (%s)"
                         % (name, problem, sys.executable)) from problem
    kind.__name__ = kind.__qualname__ = name
    kind.__module__ = __name__
    globals()[name] = kind
    return kind


def _keras():
    if "tf_keras" in sys.modules:
        from tf_keras.callbacks import Callback
    else:
        from keras.callbacks import Callback

    class Keras(Callback):
        """fit(callbacks=[Keras(run)]): the logs of each epoch."""

        def __init__(self, run):
            super().__init__()
            self.run = run

        def on_epoch_end(self, epoch, logs=None):
            self.run.log(logs or {}, step=epoch)

        def on_train_batch_end(self, batch, logs=None):
            if self.run.should_stop():
                self.model.stop_training = True

    return Keras


def _lightning():
    if "pytorch_lightning" in sys.modules and "lightning.pytorch" not in sys.modules:
        from pytorch_lightning.loggers.logger import Logger
        from pytorch_lightning.utilities import rank_zero_only
    else:
        from lightning.pytorch.loggers.logger import Logger
        from lightning.pytorch.utilities import rank_zero_only

    class Lightning(Logger):
        """Trainer(logger=Lightning(run)): the values of self.log(...)."""

        name = "orch"

        def __init__(self, run):
            super().__init__()
            self.run = run

        @property
        def version(self):
            return self.run.key

        @rank_zero_only
        def log_hyperparams(self, params, *_, **__):
            self.run.log_settings(params or {})

        @rank_zero_only
        def log_metrics(self, metrics, step=None):
            self.run.log(metrics, step=step)

    return Lightning


def _transformers():
    from transformers import TrainerCallback

    class Transformers(TrainerCallback):
        """Trainer(callbacks=[Transformers(run)]): what stands in state.log_history."""

        def __init__(self, run):
            self.run = run

        def on_log(self, args, state, control, logs=None, **_):
            if state.is_world_process_zero:
                self.run.log(logs or {}, step=state.global_step)

        def on_step_end(self, args, state, control, **_):
            if self.run.should_stop():
                control.should_training_stop = True

    return Transformers


def _xgboost():
    from xgboost.callback import TrainingCallback

    class XGBoost(TrainingCallback):
        """train(callbacks=[XGBoost(run)]), or of an XGBModel: `validation.rmse` of each round; of
        cv() the mean, and `.std`."""

        def __init__(self, run):
            super().__init__()
            self.run = run

        def after_iteration(self, model, epoch, evals_log):
            points = {}
            for data, metrics in evals_log.items():
                for metric, values in metrics.items():
                    name, value = "%s.%s" % (data, metric), values[-1]
                    if isinstance(value, tuple):
                        value, points[name + ".std"] = value
                    points[name] = value
            self.run.log(points, step=epoch)
            return self.run.should_stop()

    return XGBoost


def _lightgbm():
    from lightgbm.callback import EarlyStopException

    class LightGBM:
        """train(callbacks=[LightGBM(run)]), or of fit(): `valid_0.l2` of each iteration; of cv()
        `valid.l2-mean` and `-stdv`."""

        order = 15  # after the resetting of parameters, before early stopping

        def __init__(self, run):
            self.run = run

        def __call__(self, env):
            points = {}
            for data, metric, value, _, *spread in env.evaluation_result_list:
                name = "%s.%s" % (data, metric)
                points[name + "-mean" if spread else name] = value
                if spread:
                    points[name + "-stdv"] = spread[0]
            self.run.log(points, step=env.iteration)
            if self.run.should_stop():
                raise EarlyStopException(env.iteration, env.evaluation_result_list)

    return LightGBM


def _catboost():
    class CatBoost:
        """fit(callbacks=[CatBoost(run)]): `learn.RMSE`, `validation.RMSE` of each iteration that
        evaluates them. CatBoost calls it on CPUs only."""

        def __init__(self, run):
            self.run = run
            self._seen = {}

        def after_iteration(self, info):
            points = {}
            for data, metrics in (info.metrics or {}).items():
                for metric, values in metrics.items():
                    name = "%s.%s" % (data, metric)
                    if len(values) > self._seen.get(name, 0):  # with a period not at each one
                        points[name] = values[-1]
                    self._seen[name] = len(values)
            self.run.log(points, step=info.iteration - 1)
            return not self.run.should_stop()

    return CatBoost


def _fastai():
    from fastai.callback.core import Callback, CancelFitException

    class Fastai(Callback):
        """Learner(cbs=[Fastai(run)]): the values that the recorder prints for each epoch."""

        order = 60  # after the recorder

        def __init__(self, run):
            super().__init__()
            self.run = run

        def after_epoch(self):
            recorder = self.learn.recorder
            names = [name for name in recorder.metric_names if name not in ("epoch", "time")]
            self.run.log(dict(zip(names, recorder.values[-1])), step=self.epoch)

        def after_batch(self):
            if self.run.should_stop():
                raise CancelFitException()

    return Fastai


def _stable_baselines():
    from stable_baselines3.common.callbacks import BaseCallback
    from stable_baselines3.common.logger import KVWriter

    class Writer(KVWriter):
        def __init__(self, run):
            self.run = run

        def write(self, key_values, key_excluded, step=0):
            numbers = {name: value for name, value in key_values.items()
                       if not isinstance(value, str) and hasattr(value, "__float__")}
            self.run.log(numbers, step=step)

        def close(self):
            pass

    class StableBaselines(BaseCallback):
        """learn(callback=StableBaselines(run)): what the algorithm's logger writes, by time step."""

        def __init__(self, run):
            super().__init__()
            self.run = run

        def _on_training_start(self):
            formats = self.logger.output_formats
            if not any(isinstance(one, Writer) and one.run is self.run for one in formats):
                formats.append(Writer(self.run))

        def _on_step(self):
            return not self.run.should_stop()

    return StableBaselines


def log_search(run, search):
    """A fitted search of scikit-learn (GridSearchCV, RandomizedSearchCV, HalvingGridSearchCV): each
    column of numbers in cv_results_ is a metric whose step is the candidate, best_score_ and
    best_index_ are results, and `cv_results.csv` has the table."""
    results = search.cv_results_
    for name, column in results.items():
        if name == "params":
            continue
        for at, value in enumerate(column):
            is_masked = getattr(getattr(column, "mask", None), "__getitem__", lambda _: False)(at)
            if not is_masked and hasattr(value, "__float__") and not isinstance(value, str):
                run.metric(name, at, value)
    run.table("cv_results", {name: list(column) for name, column in results.items()})
    if hasattr(search, "best_score_"):
        run.result("best_score", search.best_score_)
    run.result("best_index", search.best_index_)
    run.log_settings({"best_params": search.best_params_})


_MAKERS = {"Keras": _keras, "Lightning": _lightning, "Transformers": _transformers,
           "XGBoost": _xgboost, "LightGBM": _lightgbm, "CatBoost": _catboost, "Fastai": _fastai,
           "StableBaselines": _stable_baselines}
