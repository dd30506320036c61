# SPDX-License-Identifier: MIT
"""Writes the runs of a tracker whose files take its own package, for `orch import --runs FILE`:

    python3 -m orch.export_runs aim REPO >runs.jsonl           # needs the package aim
    python3 -m orch.export_runs neptune FOLDER >runs.jsonl     # parquet files of neptune-exporter; needs pyarrow
    python3 -m orch.export_runs clearml FILE.zip >runs.jsonl   # offline sessions; a folder: all in it

A line for each run, behind one that names the format."""
import glob
import json
import math
import os
import re
import sys
import zipfile


def _value(value):
    """As JSON has it."""
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value).replace("nan", "NaN").replace("inf", "Infinity")
    if isinstance(value, dict):
        return {str(name): _value(one) for name, one in value.items()}
    if isinstance(value, (list, tuple, set)):
        return [_value(one) for one in value]
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return _value(value.item()) if hasattr(value, "item") else str(value)


def aim(path):
    """Runs of a repository of Aim. A metric's context stands before its name: `train/loss`."""
    from aim.sdk.repo import Repo

    repo = Repo.from_path(path)
    waiting = set(repo.list_all_runs())
    for run in repo.iter_runs():
        waiting.discard(run.hash)
        out = {"id": run.hash, "name": run.name, "experiment": run.experiment, "tags": list(run.tags),
               "started": run.creation_time, "ended": run.end_time, "state": "ok" if run.end_time else "lost",
               "params": {}, "labels": {}, "series": {}}
        if run.description:
            out["labels"]["description"] = run.description
        params = run.meta_run_tree.subtree("attrs").collect() or {}
        for name, value in params.items():
            if name == "hparams" and isinstance(value, dict):
                out["params"].update(value)
            elif not name.startswith("__"):
                out["params"][name] = value
        for metric in run.metrics():
            steps, (values, _, times) = metric.data.items_list()
            name = "/".join([str(value) for value in metric.context.to_dict().values()] + [metric.name])
            name = name.replace("__system__", "system/")
            out["series"][name] = {"steps": steps, "values": values, "times": times}
        yield out
    if waiting:
        print("export_runs: %d runs are left out, because Aim has not indexed them yet\n  hint: aim storage --repo %s reindex"
              % (len(waiting), path), file=sys.stderr)


_SETTINGS = re.compile(r"^(hyper_?)?(param\w*|config\w*|args|hparams)(/|$)")


def neptune(path):
    """Runs of the parquet files that neptune-exporter wrote. A number below `params` and the like, or
    without a folder, is a parameter, another one a result; texts are parameters."""
    import pyarrow.parquet

    runs = {}
    files = [path] if os.path.isfile(path) else sorted(glob.glob(os.path.join(path, "**", "*.parquet"), recursive=True))
    if not files:
        sys.exit("export_runs: '%s' has no parquet file\n  hint: name the folder that neptune-exporter wrote" % path)
    for file in files:
        for batch in pyarrow.parquet.ParquetFile(file).iter_batches():
            for row in batch.to_pylist():
                key = (row["project_id"], row["run_id"])
                run = runs.setdefault(key, {"id": "%s/%s" % key, "name": row["run_id"], "experiment": row["project_id"],
                                            "state": "ok", "params": {}, "results": {}, "labels": {}, "series": {}})
                _take_attribute(run, row)
    for run in runs.values():
        for series in run["series"].values():  # several files may have parts of it
            order = sorted(range(len(series["steps"])), key=series["steps"].__getitem__)
            for name in series:
                series[name] = [series[name][at] for at in order]
        yield run


def _take_attribute(run, row):
    name, kind = row["attribute_path"], row["attribute_type"]
    value = next((row[column] for column in ("float_value", "int_value", "bool_value", "string_value", "datetime_value",
                                             "string_set_value") if row[column] is not None), None)
    if kind == "float_series":
        series = run["series"].setdefault(name, {"steps": [], "values": [], "times": []})
        series["steps"].append(float(row["step"]) if row["step"] is not None else len(series["steps"]))
        series["values"].append(float("nan") if value is None else value)
        series["times"].append(row["timestamp"].timestamp() if row["timestamp"] else None)
    elif name == "sys/creation_time" and value is not None:
        run["started"] = value.timestamp()
    elif name == "sys/tags":
        run["tags"] = list(value or [])
    elif name in ("sys/name", "sys/custom_run_id"):
        run["name"] = value or run["name"]
    elif name == "sys/owner":
        run["user"] = value
    elif name == "sys/failed":
        run["state"] = "failed" if value else run["state"]
    elif kind in ("float", "int", "bool", "string", "datetime", "string_set") and value is not None:
        is_param = kind not in ("float", "int") or "/" not in name or _SETTINGS.match(name)
        place = "labels" if name.startswith(("sys/", "source_code/")) else "params" if is_param else "results"
        run[place][name] = value


def clearml(path):
    """Runs of ClearML's offline sessions: `offline-ID.zip`."""
    files = sorted(glob.glob(os.path.join(path, "*.zip"))) if os.path.isdir(path) else [path]
    if not files:
        sys.exit("export_runs: '%s' has no zip file\n  hint: name offline-ID.zip, or the folder above" % path)
    for file in files:
        with zipfile.ZipFile(file) as archive:
            names = archive.namelist()
            task = json.loads(archive.read("task.json"))
            lines = archive.read("metrics.jsonl").decode("utf-8").splitlines() if "metrics.jsonl" in names else []
        yield _clearml_run(task, [event for line in lines for event in json.loads(line)])


def _clearml_run(task, events):
    states = {"failed": "failed", "stopped": "cancelled"}
    run = {"id": task["id"], "name": task.get("name"), "experiment": task.get("project_name"), "tags": task.get("tags") or [],
           "state": states.get(task.get("status"), "ok"), "params": {}, "results": {}, "labels": {"type": task.get("type")},
           "series": {}}
    for section, values in (task.get("hyperparams") or {}).items():
        for name, one in values.items():
            name = name.replace("/", ".")
            run["params"][name if section in ("General", "Args") else "%s.%s" % (section, name)] = one.get("value")
    for event in events:
        if event.get("type") != "training_stats_scalar":
            continue
        if event["iter"] < 0:  # of report_single_value()
            run["results"][event["variant"]] = event["value"]
            continue
        series = run["series"].setdefault("%s/%s" % (event["metric"], event["variant"]),
                                          {"steps": [], "values": [], "times": []})
        for name, value in (("steps", event["iter"]), ("values", event["value"]), ("times", event["timestamp"] / 1000)):
            series[name].append(value)
    times = [event["timestamp"] / 1000 for event in events if "timestamp" in event]
    if times:
        run["started"], run["ended"] = min(times), max(times)
    return run


TRACKERS = {"aim": aim, "neptune": neptune, "clearml": clearml}


def main(words):
    if len(words) != 2 or words[0] not in TRACKERS:
        sys.exit(__doc__.rstrip())
    if not os.path.exists(words[1]):
        sys.exit("export_runs: there is no '%s'" % words[1])
    try:
        found = TRACKERS[words[0]](words[1])
        print(json.dumps({"format": "orch runs", "version": 1}))
        for run in found:
            print(json.dumps(_value(dict(run, tool=words[0]))))
    except ImportError as problem:
        sys.exit("export_runs: %s\n  hint: start it with the Python that has the tracker's package" % problem)
    except (zipfile.BadZipFile, KeyError, ValueError) as problem:
        sys.exit("export_runs: '%s' is not what %s writes: %s" % (words[1], words[0], problem))


if __name__ == "__main__":
    main(sys.argv[1:])
