#!/usr/bin/env python3
"""Prints what the loggers' own readers say of the files below a folder, or of trackio's projects: lines of name, step, value.
read_logs.py KIND DIR"""
import os
import sys


def tensorboard(folder):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    from tensorboard.util import tensor_util

    for place, _, files in os.walk(folder):
        if not any("tfevents" in file and not os.path.islink(f"{place}/{file}") for file in files):
            continue
        accumulator = EventAccumulator(place, size_guidance={"scalars": 0, "tensors": 0})
        accumulator.Reload()
        for tag in accumulator.Tags()["scalars"]:  # a later value of a step replaces the earlier one
            for step, value in {event.step: event.value for event in accumulator.Scalars(tag)}.items():
                yield tag, step, value
        for tag in accumulator.Tags()["tensors"]:
            for event in accumulator.Tensors(tag):
                array = tensor_util.make_ndarray(event.tensor_proto)
                if array.size == 1 and array.dtype.kind in "fiu":
                    yield tag, event.step, float(array.reshape(-1)[0])


def wandb(folder):
    """By the client up to 0.16, as later ones have no reader; records of theirs that it does not know hold no points."""
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    from make_files import wandb_points

    for place, _, files in os.walk(folder):
        for file in files:
            if file.endswith(".wandb"):
                yield from wandb_points(f"{place}/{file}")


def mlflow(folder):
    import mlflow as client

    client.set_tracking_uri(f"sqlite:///{folder}/mlflow.db")
    reader = client.MlflowClient()
    for run in client.search_runs(search_all_experiments=True, output_format="list"):
        for name in run.data.metrics:
            points = reader.get_metric_history(run.info.run_id, name)
            stepless = len(points) > 1 and not any(point.step for point in points)  # they are numbered
            for i, point in enumerate(points):
                yield name, i if stepless else point.step, point.value


def trackio(folder):
    del folder  # $TRACKIO_DIR
    from make_files import leaves
    from trackio.sqlite_storage import SQLiteStorage

    for project in SQLiteStorage.get_projects():
        for run in SQLiteStorage.get_run_records(project):  # two runs may have one name
            for row in SQLiteStorage.get_logs(project, run["name"], run_id=run["id"]):
                values = {k: v for k, v in row.items() if k not in ("step", "timestamp")}
                for name, value in leaves("", values):
                    yield name, row["step"], value


def swanlab(folder):
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    from make_files import swanlab_points

    for place, _, files in os.walk(folder):
        for file in files:
            if file.endswith(".swanlab"):
                yield from swanlab_points(f"{place}/{file}")


def csv(folder):
    import pandas

    for place, _, files in os.walk(folder):
        for file in files:
            if file in ("metrics.csv", "progress.csv"):
                table = pandas.read_csv(f"{place}/{file}")
                steps = table["time/total_timesteps" if file == "progress.csv" else "step"]
                for name in table.columns:
                    yield from ((name, int(step), value) for step, value in zip(steps, table[name]) if name != "step" and value == value)


def hf(folder):
    from transformers.trainer_callback import TrainerState

    points = {}
    for place, _, files in os.walk(folder):
        if "trainer_state.json" in files:
            for row in TrainerState.load_from_json(f"{place}/trainer_state.json").log_history:
                points.update({(name, row["step"]): value for name, value in row.items() if name != "step"})
    yield from ((*at, value) for at, value in points.items())


READERS = {"csv": csv, "hf": hf, "swanlab": swanlab, "tensorboard": tensorboard, "wandb": wandb, "mlflow": mlflow, "trackio": trackio}
for name, step, value in READERS[sys.argv[1]](sys.argv[2]):
    print(name, step, repr(float(value)), sep="\t")
