#!/usr/bin/env python3
"""Makes tests/loggers/files/FORMAT-*: small files by the real loggers, and FORMAT.points, what the logger's own reader says
of them. A database is kept as SQL. Run in a folder of its own, by a Python that has the packages: make_files.py DIR [LOGGER...].
Files with a version in their names were made by that version."""
import csv
import json
import math
import os
import random
import shutil
import sys

out = sys.argv[1] if __name__ == "__main__" else ""
os.makedirs(out or ".", exist_ok=True)


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


def hparams_tensorboard():
    from torch.utils.tensorboard import SummaryWriter

    with SummaryWriter(f"{out}/hparams") as writer:
        writer.add_hparams({"lr": 0.1, "layers": 3, "name": "sgd", "fast": True}, {"acc": 0.5}, run_name=".")
    keep_events("hparams")


def images_tensorboard():
    import numpy
    from torch.utils.tensorboard import SummaryWriter

    with SummaryWriter(f"{out}/images") as writer:
        for i in range(2):
            writer.add_image("net/filters", numpy.full((3, 2, 2), 100 * i, dtype="uint8"), i)
            writer.add_scalar("loss", 0.5 - 0.25 * i, i)
    keep_events("images")


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


def version(module):
    return ".".join(module.__version__.split(".")[:2])


def leaves(name, value):
    """The numbers of a value of JSON, by name; booleans count, and texts only for what JSON has no number for."""
    if isinstance(value, dict):
        if "_type" not in value:
            for key, inner in value.items():
                yield from leaves(f"{name}.{key}" if name else key, inner)
    elif isinstance(value, (int, float)) or value in ("NaN", "Infinity", "-Infinity"):
        yield name, float(value)


def wandb_points(path):
    """By W&B's own reader of its files."""
    from google.protobuf.message import DecodeError
    from wandb.proto import wandb_internal_pb2
    from wandb.sdk.internal.datastore import DataStore

    store = DataStore()
    store.open_for_scan(path)
    while (data := store.scan_data()) is not None:
        record = wandb_internal_pb2.Record()
        try:
            record.ParseFromString(data)
        except DecodeError:  # of a kind that a later client has added
            continue
        row = {}
        for item in record.history.item:
            at = row
            *outer, last = list(item.nested_key) or [item.key]
            for key in outer:
                at = at.setdefault(key, {})
            at[last] = json.loads(item.value_json)
        step = row.get("_step", record.history.step.num)
        for name, value in leaves("", {k: v for k, v in row.items() if not k.startswith("_")}):
            yield name, step, value


def wandb():
    import numpy
    import wandb as client

    for key, value in {"WANDB_MODE": "offline", "WANDB_SILENT": "true", "WANDB_DISABLE_CODE": "true",
                       "WANDB_DISABLE_GIT": "true", "WANDB__DISABLE_STATS": "true", "WANDB_CONSOLE": "off"}.items():
        os.environ[key] = value
    run = client.init(project="p", name="r", dir=out, config={"lr": 0.1, "opt": {"name": "sgd", "betas": [1, 2]}})
    for i in range(8):
        run.log({"loss": 1 / (i + 1), "train/acc": i / 8, "nested": {"a": i}, "odd": math.nan, "far": -math.inf})
    run.log({"picture": client.Image(numpy.zeros((2, 2, 3), dtype="uint8")), "h": client.Histogram([1, 2])}, step=20)
    run.summary["best"] = 0.9
    folder = os.path.dirname(run.dir)
    run.finish()
    os.rename(f"{folder}/run-{run.id}.wandb", f"{out}/wandb-{version(client)}.wandb")


def wandb_readings():
    """What W&B's reader says of all files; the last version that has one in Python is 0.2x."""
    for file in os.listdir(out):
        if file.endswith(".wandb"):
            write_points(file[:-len(".wandb")], list(wandb_points(f"{out}/{file}")))


def swanlab_points(path):
    """By SwanLab's own reader of its files."""
    from swanlab.proto.swanlab.record.v1.record_pb2 import Record
    from swanlab.sdk.internal.core_python.store import DataStoreReader

    store = DataStoreReader()
    store.open(path)
    for data in store:
        record = Record.FromString(data)
        if record.HasField("scalar") and not record.scalar.key.startswith("__swanlab__."):
            yield record.scalar.key, record.scalar.step, record.scalar.value.number


def swanlab():
    import swanlab as client

    run = client.init(project="p", experiment_name="r", logdir=out, mode="offline", config={"lr": 0.1})
    for i in range(8):
        client.log({"loss": 1 / (i + 1), "train/acc": i / 8, "odd": math.nan, "far": -math.inf})
    client.log({"late": -2.5}, step=20)
    client.finish()
    del run
    (folder,) = [name for name in os.listdir(out) if name.startswith("run-")]
    (file,) = [name for name in os.listdir(f"{out}/{folder}") if name.endswith(".swanlab")]
    name = f"swanlab-{version(client)}"
    os.rename(f"{out}/{folder}/{file}", f"{out}/{name}.swanlab")
    shutil.rmtree(f"{out}/{folder}")
    write_points(name, list(swanlab_points(f"{out}/{name}.swanlab")))


def log_mlflow(uri):
    import mlflow

    os.environ["MLFLOW_ALLOW_FILE_STORE"] = "true"
    mlflow.set_tracking_uri(uri)
    mlflow.set_experiment("e")
    with mlflow.start_run(run_name="r") as run:
        mlflow.log_params({"lr": 0.1, "opt/name": "sgd"})
        for i in range(8):
            mlflow.log_metric("loss", 1 / (i + 1), step=i)
            mlflow.log_metric("train/acc", i / 8, step=i)
        mlflow.log_metric("odd", math.nan)
        mlflow.log_metric("far", math.inf)
        with mlflow.start_run(run_name="child", nested=True) as child:
            mlflow.log_metric("loss", 3, step=1)
            mlflow.log_param("lr", 0.2)
    client = mlflow.MlflowClient()
    for prefix, id in ("", run.info.run_id), ("child/", child.info.run_id):
        for name in client.get_run(id).data.metrics:
            for point in client.get_metric_history(id, name):
                is_far = abs(point.value) == sys.float_info.max  # as databases keep infinity
                yield prefix + name, point.step, math.copysign(math.inf, point.value) if is_far else point.value


def keep_sql(path, name, tables):
    """Of a database the named tables."""
    import sqlite3

    db = sqlite3.connect(path)
    has = {name for name, in db.execute("SELECT name FROM sqlite_master")}
    tables = [table for table in tables if table in has]
    with open(f"{out}/{name}.sql", "w") as f:
        for table in tables:
            f.write(db.execute("SELECT sql FROM sqlite_master WHERE name = ?", (table,)).fetchone()[0] + ";\n")
        for line in db.iterdump():
            if any(line.startswith(f'INSERT INTO "{table}"') for table in tables):
                f.write(line + "\n")


def mlflow_folder():
    import mlflow

    name = f"mlruns-{version(mlflow)}"
    points = list(log_mlflow(f"file:{out}/{name}"))
    write_points(name, points)
    for folder, _, files in os.walk(f"{out}/{name}"):
        for file in files:
            if "/tags" in folder or not os.listdir(folder):
                os.remove(f"{folder}/{file}")


def mlflow_database():
    import mlflow

    name = f"mlflow-{version(mlflow)}"
    write_points(name, log_mlflow(f"sqlite:///{out}/mlflow.db"))
    keep_sql(f"{out}/mlflow.db", name, ["experiments", "runs", "params", "tags", "metrics", "latest_metrics"])
    os.remove(f"{out}/mlflow.db")


def trackio():
    os.environ["TRACKIO_DIR"] = os.environ["HF_HOME"] = out
    import trackio as client
    from trackio.sqlite_storage import SQLiteStorage

    rows = [{"loss": 1 / (i + 1), "train/acc": i / 8, "nested": {"a": i}, "odd": math.nan} for i in range(8)]
    name = f"trackio-{version(client)}"
    if name < "trackio-0.3":  # its client sends to a server, whose storage this is
        SQLiteStorage.bulk_log("p", "r", rows)
    else:
        client.init(project="p", name="r", config={"lr": 0.1, "opt": {"name": "sgd"}})
        for row in rows:
            client.log(row)
        client.finish()
    rows = SQLiteStorage.get_logs("p", "r")
    write_points(name, [(n, row["step"], v) for row in rows for n, v in leaves("", {
        k: v for k, v in row.items() if k not in ("step", "timestamp")})])
    keep_sql(str(SQLiteStorage.get_project_db_path("p")), name, ["metrics", "configs"])
    os.remove(str(SQLiteStorage.get_project_db_path("p")))


def dvclive():
    from dvclive import Live

    with Live(f"{out}/dvclive", save_dvc_exp=False, report=None, dvcyaml=None) as live:
        live.log_params({"lr": 0.1, "opt": {"name": "sgd"}})
        for i in range(8):
            live.log_metric("loss", 1 / (i + 1))
            live.log_metric("train/acc", i / 8)
            live.next_step()
        live.summary["best"] = 0.9
    tables = f"{out}/dvclive/plots/metrics"
    points = [(name, step, value) for name in ("loss", "train/acc")
              for _, step, value in csv_points(f"{tables}/{name}.tsv", "step", "\t")]
    write_points("dvclive", points)


def main():
    random.seed(1)
    makers = (torch_tensorboard, hparams_tensorboard, images_tensorboard, resumed_tensorboard, lightning, keras,
              stable_baselines, wandb, wandb_readings, swanlab, mlflow_folder, mlflow_database, trackio, dvclive)
    for make in makers:
        if len(sys.argv) > 2 and make.__name__ not in sys.argv[2:]:
            continue
        try:
            make()
        except ImportError as error:
            print(f"{make.__name__}: {error}", file=sys.stderr)


if __name__ == "__main__":
    main()
