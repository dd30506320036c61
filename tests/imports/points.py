# SPDX-License-Identifier: GPL-3.0-or-later
"""points.py FOLDER: what the files there say, read by json alone, against the runs in the store: tool, metric, values."""
import json
import os
import sqlite3
import sys

folder = sys.argv[1]
UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}


def load(*path):
    with open(os.path.join(folder, *path)) as file:
        return json.load(file)


def files():
    for one in load("hyperfine.json")["results"]:
        yield "hyperfine", one["command"], "time_s", dict(enumerate(one["times"]))
    pyperf = load("pyperf.json")
    for one in pyperf["benchmarks"]:
        name = one.get("metadata", {}).get("name") or pyperf["metadata"]["name"]
        yield "pyperf", name, "time_s", dict(enumerate(v for run in one["runs"] for v in run.get("values", [])))
    for one in load("pytest-benchmark.json")["benchmarks"]:
        yield "pytest-benchmark", one["fullname"], "time_s", dict(enumerate(one["stats"]["data"]))
    google = [one for one in load("google-benchmark.json")["benchmarks"] if one["run_type"] == "iteration"]
    for name in dict.fromkeys(one["run_name"] for one in google):
        rows = [one for one in google if one["run_name"] == name]
        for metric, member in (("time_s", "real_time"), ("cpu_time_s", "cpu_time")):
            yield "google-benchmark", name, metric, {at: one[member] * UNITS[one["time_unit"]] for at, one in enumerate(rows)}
        for counter in ("size", "items_per_second"):
            if counter in rows[0]:
                yield "google-benchmark", name, counter, {at: one[counter] for at, one in enumerate(rows)}
    (file,) = os.listdir(os.path.join(folder, "asv", "vm"))
    for name, one in load("asv", "vm", file)["results"].items():
        for result, samples in zip(one[0] or [], one[11] if len(one) > 11 else []):
            if samples:
                yield "asv", name, "time_s", dict(enumerate(samples))
    for number in "12":
        of = load("sacred", number, "run.json")["experiment"]["name"]
        for metric, series in load("sacred", number, "metrics.json").items():
            yield "sacred", "%s/%s" % (of, number), metric, dict(zip(series["steps"], series["values"]))
    with open(os.path.join(folder, "aim.jsonl")) as file:
        for run in map(json.loads, list(file)[1:]):
            for metric, series in run["series"].items():
                yield "aim", run["name"], metric, dict(zip(series["steps"], map(float, series["values"])))


def shown(points):
    return sorted((step, repr(float("nan") if value is None else float(value))) for step, value in points)


db = sqlite3.connect(".orch/results.db")
found = {}
for run, plugin, metric, step, value in db.execute("SELECT r.id, r.plugin, n.name, m.step, m.value FROM metric m JOIN run r ON r.id = m.run"
                                                   " JOIN metric_name n ON n.id = m.name_id"):
    found.setdefault((run, plugin[len("import:"):], metric), []).append((step, value))
found = sorted((tool, metric, shown(points)) for (_, tool, metric), points in found.items() if tool not in ("neptune", "clearml"))
wanted = sorted((tool, metric, shown(points.items())) for tool, _, metric, points in files())
for one in found:
    assert one in wanted, "more: %s" % (one,)
for one in wanted:
    assert one in found, "missing: %s" % (one,)
assert len(found) == len(wanted) > 15, (len(found), len(wanted))
print("%d series are equal" % len(wanted))
