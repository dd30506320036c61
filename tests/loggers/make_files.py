#!/usr/bin/env python3
"""Makes tests/loggers/files/FORMAT-*: small files by the real loggers, and FORMAT.points, what the logger's own reader says
of them. Run in a folder of its own, by a Python that has the packages: make_files.py DIR."""
import csv
import json
import math
import os
import random
import sys

out = sys.argv[1]
os.makedirs(out, exist_ok=True)


def write_points(name, points):
    with open(f"{out}/{name}.points", "w") as f:
        for tag, step, value in sorted(points, key=lambda p: (p[0], p[1])):
            f.write(f"{tag}\t{step}\t{value!r}\n")


def tensorboard_points(folder):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    from tensorboard.util import tensor_util

    accumulator = EventAccumulator(folder, size_guidance={"scalars": 0, "tensors": 0})
    accumulator.Reload()
    tags = accumulator.Tags()
    points = [(t, e.step, e.value) for t in tags["scalars"] for e in accumulator.Scalars(t)]
    for tag in tags["tensors"]:
        for event in accumulator.Tensors(tag):
            array = tensor_util.make_ndarray(event.tensor_proto)
            if array.size == 1 and array.dtype.kind in "fiu":
                points.append((tag, event.step, float(array)))
    return points


def keep_events(name):
    """The files of a folder as NAME.tfevents.1, .2 and so on."""
    write_points(name, tensorboard_points(f"{out}/{name}"))
    for i, file in enumerate(sorted(os.listdir(f"{out}/{name}"))):
        os.rename(f"{out}/{name}/{file}", f"{out}/{name}.tfevents.{i + 1}")
    os.rmdir(f"{out}/{name}")


def torch_tensorboard():
    import numpy
    from torch.utils.tensorboard import SummaryWriter

    writer = SummaryWriter(f"{out}/torch", filename_suffix=".t")
    for i in range(30):
        writer.add_scalar("train/loss", 1 / (i + 1), i)
        writer.add_scalar("train/acc", i / 30, i, new_style=True)
        writer.add_scalar("double", i / 7, i, new_style=True, double_precision=True)
    writer.add_scalar("odd", math.nan, 0)
    writer.add_histogram("weights", numpy.array([0.1, 0.2, 0.3]), 1)
    writer.add_text("about", "words", 0)
    writer.close()
    keep_events("torch")


def resumed_tensorboard():
    import time

    from tensorboardX import SummaryWriter

    for first, purge in ((0, None), (6, 6)):
        writer = SummaryWriter(f"{out}/resumed", purge_step=purge)
        for i in range(first, first + 10):
            writer.add_scalar("loss", first + 1 / (i + 1), i)
        writer.close()
        time.sleep(1.1)
    keep_events("resumed")


def csv_points(path, step, separator=","):
    import pandas

    table = pandas.read_csv(path, sep=separator, comment=None, skipinitialspace=True)
    table.columns = [c.strip() for c in table.columns]
    for column in table.columns:
        if column != step and table[column].dtype.kind in "fiu":
            for i, value in table[column].items():
                if not math.isnan(value):
                    yield (column, int(table[step][i]) if step else i, float(value))


def lightning():
    from lightning.pytorch.loggers import CSVLogger

    logger = CSVLogger(out, name="lightning", version="", flush_logs_every_n_steps=3)
    logger.log_hyperparams({"lr": 0.1})
    for i in range(10):
        logger.log_metrics({"epoch": i // 5, "train_loss": 1 / (i + 1)}, step=i)
        if i % 5 == 4:
            logger.log_metrics({"epoch": i // 5, "val_loss": 2 / (i + 1)}, step=i)
    logger.save()
    write_points("lightning", csv_points(f"{out}/lightning/metrics.csv", "step"))


def keras():
    os.environ.setdefault("KERAS_BACKEND", "torch")
    import keras
    import numpy

    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    model.compile(loss="mse", metrics=["mae"])
    x = numpy.arange(16.0).reshape(8, 2)
    model.fit(x, x[:, :1], epochs=4, verbose=0, validation_split=0.25,
              callbacks=[keras.callbacks.CSVLogger(f"{out}/keras.csv", separator=";")])
    write_points("keras", csv_points(f"{out}/keras.csv", "epoch", ";"))


def stable_baselines():
    from stable_baselines3.common.logger import configure

    logger = configure(f"{out}/sb3", ["csv", "json"])
    for i in range(5):
        logger.record("time/total_timesteps", 100 * i, exclude="tensorboard")
        logger.record("rollout/ep_rew_mean", i / 3)
        if i > 2:
            logger.record("train/loss", 1 / i)
        logger.dump(100 * i)
    logger.close()
    write_points("sb3", csv_points(f"{out}/sb3/progress.csv", "time/total_timesteps"))


def main():
    random.seed(1)
    for make in (torch_tensorboard, resumed_tensorboard, lightning, keras, stable_baselines):
        try:
            make()
        except ImportError as error:
            print(f"{make.__name__}: {error}", file=sys.stderr)


main()
