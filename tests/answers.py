#!/usr/bin/env python3
"""Recomputes the numbers of a report from the exported runs, by SciPy and without orch's own code.

usage: answers.py [--orch PROGRAM] RECIPE [OPTION of orch report...]

The report ('orch report --json') says which runs each section uses. Their values come from 'orch export'; means, intervals, tests,
speedups, ends of curves and medians are computed here again and compared with every number that the section shows. Kinds of items
that are not recomputed are listed with their sections. Status 1: a number differs."""
import collections
import json
import math
import re
import subprocess
import sys

import numpy
import yaml
from scipy import stats

TOLERANCE = 1e-9


def run_json(orch, *arguments):
    return json.loads(subprocess.run([orch, *arguments], check=True, capture_output=True).stdout)


def listed(value):
    return value if isinstance(value, list) else [] if value is None else [value]


def is_near(a, b, relative=TOLERANCE):
    if a is None or b is None:
        return (a is None or math.isnan(a)) and (b is None or math.isnan(b))
    return math.isclose(a, b, rel_tol=relative, abs_tol=1e-12) or (math.isnan(a) and math.isnan(b))


def text_of(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value == int(value):
        return str(int(value))
    if isinstance(value, list):
        return ",".join(text_of(v) for v in value)
    return str(value)


class Runs:
    """The exported runs and the points of their metrics."""

    def __init__(self, orch):
        self.orch, self.points = orch, {}
        self.by_key = {run["key"]: run for run in run_json(orch, "export", "-f", "json")}

    def series(self, name):
        """{run: [(step, value)]} of a metric."""
        if name not in self.points:
            rows = run_json(self.orch, "export", "--what", "points", "-m", name, "-f", "json")
            series = collections.defaultdict(list)
            for row in rows:
                series[row["key"]].append((row["step"], row["value"]))
            self.points[name] = series
        return self.points[name]

    def value(self, run, wanted):
        """"result x", "last y", "mean z", "wall_s" or "x" of a run; NaN: it has none."""
        aggregate, _, name = wanted.rpartition(" ")
        if name == "wall_s":
            return run["wall_s"]
        if aggregate in ("", "result", "last") and run.get("result." + name) is not None:
            return run["result." + name]
        values = [v for _, v in sorted(self.series(name).get(run["key"], [])) if v is not None]
        if aggregate == "best":
            best = run.get("best." + name)
            return math.nan if best is None else best
        reduce = {"min": min, "max": max, "first": lambda v: v[0], "count": len, "mean": lambda v: sum(v) / len(v)}
        return reduce.get(aggregate, lambda v: v[-1])(values) if values else math.nan


def axis(run, name):
    for key in ("param." + name, name):
        if run.get(key) is not None:
            return text_of(run[key])
    return None


def label(run, axes):
    return " ".join(v for v in (axis(run, a) for a in axes) if v is not None)


def by_seed(pairs):
    """{seed: mean of its values}"""
    groups = collections.defaultdict(list)
    for seed, value in pairs:
        if value is not None and math.isfinite(value):
            groups[seed].append(value)
    return {seed: sum(v) / len(v) for seed, v in groups.items()}


def intervals(values):
    """The 95 % intervals of the mean on the plain, the logarithmic and the logit scale (delta method)."""
    values = numpy.asarray(values, float)
    mean, half = values.mean(), stats.t.ppf(0.975, len(values) - 1) * stats.sem(values)
    out = [(mean - half, mean + half)]
    if mean > 0:
        out.append((mean * math.exp(-half / mean), mean * math.exp(half / mean)))
    for top in (1.0, 100.0):
        share = mean / top
        if 0 < share < 1:
            logit, step = math.log(share / (1 - share)), half / top / (share * (1 - share))
            out.append(tuple(top / (1 + math.exp(-logit + sign * step)) for sign in (1, -1)))
    return out


class Section:
    def __init__(self, report, section, spec, runs):
        self.report, self.section, self.spec, self.runs = report, section, spec, runs
        self.of = [runs.by_key[r["key"]] for r in section["runs"] if r["key"] in runs.by_key]

    def compare(self, what, shown, computed, relative=TOLERANCE):
        self.report.numbers += 1
        if not is_near(shown, computed, relative):
            self.report.differ.append(f"{self.section['question']} {self.section['title']}: {what}: shown {shown}, computed {computed}")

    def blocks(self, kind):
        return [b for b in self.section["blocks"] if b["kind"] == kind]

    def seeds(self, chosen, wanted):
        return by_seed((run["seed"], self.runs.value(run, wanted)) for run in chosen)

    # ---- kinds of items ------------------------------------------------------------------------

    def cell(self, what, shown, spread, chosen, wanted):
        values = list(self.seeds(chosen, wanted).values())
        form = spread["form"] if spread else None
        if not values:
            return self.compare(what, shown, None)
        self.compare(what, shown, float(numpy.median(values)) if form == "median and range" else sum(values) / len(values))
        if not spread:
            return None
        self.compare(what + ", n", spread["n"], len(values))
        ends = intervals(values) if form == "interval" else [(min(values), max(values))]
        fits = [e for e in ends if is_near(spread["low"], e[0], 1e-6) and is_near(spread["high"], e[1], 1e-6)]
        self.compare(what + ", interval", 0.0, 0.0 if fits else math.inf)
        return None

    def table(self):
        rows, columns, wanted = (listed(self.spec.get(k)) for k in ("rows", "columns", "value"))
        is_shared = self.section["done"] != len(self.section["runs"])  # a run that two experiments share
        if self.spec.get("labels") or (is_shared and "experiment" in rows + columns):
            return False
        head = ",_".join(rows).lower()
        for block in self.blocks("table"):
            for row in block["rows"]:
                of_row = [run for run in self.of if label(run, rows) == str(row.get(head))]
                for name, shown in row.items():
                    if name == head or name.endswith(("_spread", "_deviation")) or shown is None or isinstance(shown, str):
                        continue
                    spread = row.get(name + "_spread")
                    if columns:
                        chosen = [run for run in of_row if label(run, columns).lower() == name]
                        for one, value in zip(listed(shown), wanted):
                            self.cell(f"{row[head]}, {name}, {value}", one, spread if value is wanted[0] else None, chosen, value)
                        continue
                    of_name = [w for w in wanted if re.sub(r"_\(.*\)$", "", name) in (w.split(" ")[-1].lower(), w.replace(" ", "_").lower())]
                    if len(of_name) == 1:
                        self.cell(f"{row[head]}, {name}", shown, spread, of_row, of_name[0])
        return True

    def of_series(self, name, metrics):
        """The runs of a line: those whose settings its name says."""
        by = self.spec.get("by")
        if by is not None:
            texts = lambda run: {" ".join(f"{a}={axis(run, a)}" for a in listed(by)), ", ".join(f"{a}={axis(run, a)}" for a in listed(by)),
                                 label(run, listed(by)), ", ".join(axis(run, a) or "" for a in listed(by))}
            return [run for run in self.of if name in texts(run)]
        pairs = re.findall(r"([\w-]+)=([^ ,]+)", name)
        experiments = {run["experiment"] for run in self.of}
        words = [w for w in re.split(r"[ ,]+", name) if "=" not in w and w]
        if name in metrics or not pairs and not set(words) & experiments:
            return self.of
        return [run for run in self.of if all(axis(run, k) == v for k, v in pairs) and
                all(w == run["experiment"] for w in words if w in experiments)]

    def plot(self):
        y = [w for w in listed(self.spec.get("y"))]
        x = self.spec["x"]
        if len(y) != 1 or self.spec.get("kind") or self.spec.get("facet"):
            return False
        name = y[0].split(" ")[-1]
        for block in self.blocks("chart"):
            names = block["chart"]["x_names"]
            if block["chart"]["kind"] not in ("line", "bar"):
                return False
            for series in block["chart"]["series"]:
                if series["role"] != "measured":
                    continue
                chosen = self.of_series(series["name"], {name, y[0]})
                is_steps = not any(axis(run, x) is not None for run in self.of)
                steps = {run["key"]: dict(self.runs.series(name).get(run["key"], [])) for run in chosen} if is_steps else {}
                for point in series["points"]:
                    at = names[int(point["x"])] if names else point["x"]
                    if is_steps:
                        values = by_seed((run["key"], steps[run["key"]].get(int(at))) for run in chosen)
                    else:
                        same = [run for run in chosen if axis(run, x) == (at if names else text_of(float(at)))]
                        values = by_seed((run["key"], self.runs.value(run, y[0])) for run in same)
                    values = list(values.values())
                    self.compare(f"{series['name']} at {at}", point["y"], sum(values) / len(values) if values else None)
                    if point["low"] is not None and values:
                        fits = [e for e in intervals(values) if is_near(point["low"], e[0], 1e-6) and is_near(point["high"], e[1], 1e-6)]
                        self.compare(f"{series['name']} at {at}, interval", 0.0, 0.0 if fits else math.inf)
        return True

    def speedup(self):
        by, wanted, workers = listed(self.spec.get("by")), self.spec["value"], self.spec.get("workers", "workers")
        groups = collections.defaultdict(list)
        timers = {key: collections.defaultdict(list) for key in ("compute", "exposed", "steps") if key in self.spec}
        for run in self.of:
            value = self.runs.value(run, wanted)
            if not run.get("result.oversubscribed") and math.isfinite(value):
                groups[label(run, by), float(axis(run, workers))].append(value)
                for key, of in timers.items():
                    of[label(run, by), float(axis(run, workers))].append(self.runs.value(run, self.spec[key]))
        mean = {key: sum(v) / len(v) for key, v in groups.items()}
        timed = lambda key, at: sum(timers[key][at]) / len(timers[key][at]) * (timed("steps", at) if key != "steps" and "steps" in timers else 1)
        is_rate = re.search(r"throughput|_per_s", wanted)
        for block in self.blocks("table"):
            for row in block["rows"]:
                of = str(row[",_".join(by).lower()]) if by else ""
                n, value, one = row["workers"], mean.get((of, row["workers"])), mean.get((of, 1.0))
                if value is None or one is None:
                    continue
                gain = value / one if is_rate else one / value
                formulas = {"speedup": gain, "share_of_the_ideal_n": gain / n, "t(n)/t(1)": value / one, "t(1)/t(n)": one / value,
                            "increase_(%)": 100 * (value / one - 1), "computing": one / n, "communication": value - one / n}
                formulas |= {name: timed(key, (of, n)) for name, key in (("computing", "compute"), ("communication", "exposed")) if key in timers}
                for name, computed in formulas.items():
                    if isinstance(row.get(name), (int, float)):
                        self.compare(f"{of} {n}, {name}", row[name], computed)
        return True

    def best(self):
        axes, wanted = listed(self.spec["by"]), self.spec["value"]
        answers = [m for b in self.blocks("answer") for m in [re.match(r"(?:winner|best) by [^:]*: (.*?) with ", b["text"])] if m]
        if not answers:
            return True
        mean = lambda of: float(numpy.mean(list(self.seeds([run for run in self.of if label(run, axes) == of], wanted).values())))
        first = mean(answers[0].group(1))
        for block in self.blocks("table"):
            for row in block["rows"]:
                of = row[",_".join(axes).lower()]
                self.compare(f"{of}, value", row["value"], mean(of))
                self.compare(f"{of}, margin", row["winner_is_better_by"], abs(first - mean(of)))
        return True

    def compare_item(self):
        axes, wanted = listed(self.spec["by"]), self.spec["value"]
        texts = [b["text"] for b in self.blocks("answer") + self.blocks("text")]
        bases = [t.split(": ")[0] for t in texts if " against " not in t]
        if isinstance(wanted, dict) or not bases:
            return False
        base = self.seeds([run for run in self.of if label(run, axes) == bases[0]], wanted)
        for text in texts:
            found = re.match(r"(.*?): .*paired difference .*?\(n = (\d+) pairs, paired t, p ([\d.<]+)", text)
            if not found:
                continue
            other = self.seeds([run for run in self.of if label(run, axes) == found.group(1)], wanted)
            seeds = sorted(set(base) & set(other))
            self.compare(f"{found.group(1)}, pairs", int(found.group(2)), len(seeds))
            p = stats.ttest_rel([other[s] for s in seeds], [base[s] for s in seeds]).pvalue
            if not found.group(3).startswith("<"):
                self.compare(f"{found.group(1)}, p", round(float(found.group(3)), 4), round(float(p), 4), 1e-3)
        return True

    def converged(self):
        by, name, over = listed(self.spec.get("by")), self.spec["value"], float(self.spec.get("over", 0.1))
        for block in self.blocks("table"):
            for row in block["rows"]:
                of = row[",_".join(by).lower()] if by else None
                ends, changes = [], []
                for run in self.of:
                    values = [v for _, v in sorted(self.runs.series(name).get(run["key"], []))]
                    stretch = max(1, math.ceil(over * len(values)))
                    if (by and label(run, by) != of) or len(values) < 2 * stretch or None in values:
                        continue
                    last, before = numpy.mean(values[-stretch:]), numpy.mean(values[-2 * stretch:-stretch])
                    ends.append(last)
                    changes.append(100 * (last / before - 1))
                shown = row.get(f"{name}_at_the_end")
                if ends and isinstance(shown, (int, float)):
                    self.compare(f"{of}, end", shown, float(numpy.mean(ends)))
                    self.compare(f"{of}, change", row["change_%"], float(numpy.mean(changes)), 1e-6)
        return True

    def correlate(self):
        by, x, y = listed(self.spec.get("by")), self.spec["x"], self.spec["y"]
        for block in self.blocks("table"):
            for row in block["rows"]:
                of = row[",_".join(by).lower()] if by else None
                settings = collections.defaultdict(list)
                for run in self.of:
                    if not by or label(run, by) == of:
                        key = re.sub(r" #\d+$", "", next(r["label"] for r in self.section["runs"] if r["key"] == run["key"]))
                        settings[key].append((self.runs.value(run, x), self.runs.value(run, y)))
                pairs = [numpy.mean(v, axis=0) for v in settings.values()]
                if len(pairs) > 2 and row["rank_correlation"] is not None:
                    self.compare(f"{of}, rank correlation", row["rank_correlation"], float(stats.spearmanr(*zip(*pairs))[0]))
        return True

    def time_to_accuracy(self):
        axes, wanted = listed(self.spec["by"]), listed(self.spec["value"])
        reached = self.spec.get("reached", "result reached_target")
        for block in self.blocks("table"):
            for row in block["rows"]:
                of = str(row[",_".join(axes).lower()])
                name = row.get("value", wanted[0]).split(" (")[0]
                value = next(w for w in wanted if w.split(" ")[-1] == name.split(" ")[-1])
                chosen = [run for run in self.of if label(run, axes) == of]
                times = [self.runs.value(run, value) if self.runs.value(run, reached) > 0 else math.inf for run in chosen]
                done = [t for t in times if math.isfinite(t)]
                if len(times) != row.get("counted", row["runs"]):  # times of disturbed runs are left out
                    continue
                self.compare(f"{of}, {name}, reached", row["reached"], len(done) / len(times))
                if isinstance(row.get("median"), (int, float)):
                    self.compare(f"{of}, {name}, median", row["median"], float(numpy.median(times)))
                if row.get("range"):
                    self.compare(f"{of}, {name}, lowest", row["range"][0], min(done))
                    self.compare(f"{of}, {name}, highest", row["range"][1], max(done))
                if len(done) > 1 and row.get("cv") is not None:
                    self.compare(f"{of}, {name}, cv", row["cv"], float(numpy.std(done, ddof=1) / numpy.mean(done)))
        return True


# Each returns False where it does not recompute the section.
KINDS = {"table": Section.table, "plot": Section.plot, "speedup": Section.speedup, "best": Section.best, "compare": Section.compare_item,
         "converged": Section.converged, "correlate": Section.correlate, "time_to_accuracy": Section.time_to_accuracy}


class Report:
    def __init__(self):
        self.numbers, self.differ = 0, []
        self.left = collections.Counter()

    def check(self, orch, recipe, options):
        items = yaml.safe_load(open(recipe, encoding="utf-8"))["report"]
        specs = {(str(item.get("question", "")), item.get("title")): item for item in items}
        runs = Runs(orch)
        for section in run_json(orch, "report", recipe, "--json", *options)["sections"]:
            item = specs.get((section["question"] or "", section["title"]))
            kind = section["kind"]
            if not section["runs"] or not item:
                continue
            before = self.numbers
            if kind not in KINDS or not KINDS[kind](Section(self, section, item[kind], runs)) or self.numbers == before:
                self.left[kind] += 1


def main(arguments):
    orch = "orch"
    if arguments[:1] == ["--orch"]:
        orch, arguments = arguments[1], arguments[2:]
    if not arguments:
        sys.exit(__doc__)
    report = Report()
    report.check(orch, arguments[0], arguments[1:])
    for line in report.differ:
        print(line)
    left = ", ".join(f"{kind} ({count})" for kind, count in sorted(report.left.items()))
    print(f"{report.numbers} numbers recomputed, {len(report.differ)} differ; sections not recomputed: {left or 'none'}")
    return 1 if report.differ or not report.numbers else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
