#!/usr/bin/env python3
"""Recomputes the numbers of a report from the exported runs, by SciPy and without orch's own code.

usage: answers.py [--orch PROGRAM] RECIPE [OPTION of orch report...]

The report ('orch report --json') says which runs each section uses. Their values come from 'orch export', tables that runs left from
'orch show RUN -a NAME'; means, intervals, tests, speedups, ends of curves, medians, formulas, quotients and fits are computed here again
and compared with every number that the section shows. Disturbed runs (fact foreign_cpu above 0.1) are left out of times where an
undisturbed run of the setting is there. Kinds of items that are not recomputed are listed with their sections. Status 1: a number differs."""
import ast
import collections
import csv
import io
import json
import math
import re
import subprocess
import sys

import numpy
import yaml
from scipy import integrate, optimize, special, stats

TOLERANCE = 1e-9
DISTURBED_ABOVE = 0.1


def run_json(orch, *arguments):
    return json.loads(subprocess.run([orch, *arguments], check=True, capture_output=True).stdout)


def listed(value):
    return value if isinstance(value, list) else [] if value is None else [value]


def is_near(a, b, relative=TOLERANCE):
    if a is None or b is None:
        return (a is None or math.isnan(a)) and (b is None or math.isnan(b))
    return math.isclose(a, b, rel_tol=relative, abs_tol=1e-12) or (math.isnan(a) and math.isnan(b))


def rounds_to(text, value):
    """A number as it is printed, against what it was rounded from."""
    text = text.replace(",", "").lstrip("+")
    digits = re.fullmatch(r"-?\d*(?:\.(\d*))?(?:e([+-]?\d+))?", text)
    if not digits or value is None:
        return False
    step = 10.0 ** (int(digits.group(2) or 0) - len(digits.group(1) or ""))
    return math.isclose(float(text), value, rel_tol=6e-5, abs_tol=0.51 * step)


def evaluate(formula, number):
    """An arithmetic expression whose names may have two words ("mean epoch_time")."""
    names = {}

    def name_of(match):
        key = f"v{len(names)}"
        names[key] = number(match.group(0))
        return key

    formula = re.sub(r"(?:(?:last|best|min|max|mean|first|count|result) )?[A-Za-z_]\w*", name_of, formula)
    operations = {ast.Add: lambda a, b: a + b, ast.Sub: lambda a, b: a - b, ast.Mult: lambda a, b: a * b, ast.Div: lambda a, b: a / b}

    def walk(node):
        if isinstance(node, ast.BinOp):
            return operations[type(node.op)](walk(node.left), walk(node.right))
        if isinstance(node, ast.UnaryOp):
            return -walk(node.operand)
        return names[node.id] if isinstance(node, ast.Name) else float(node.value)

    return walk(ast.parse(formula.strip(), mode="eval").body)


def text_of(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value == int(value):
        return str(int(value))
    if isinstance(value, list):
        return "[" + ", ".join(text_of(v) for v in value) + "]"
    return str(value)


class Runs:
    """The exported runs and the points of their metrics."""

    def __init__(self, orch, recipe, options):
        self.orch, self.points, self.units, self.tables = orch, {}, {}, {}
        self.by_key = {run["key"]: run for run in run_json(orch, "export", "-f", "json")}
        self.trials = collections.defaultdict(list)  # {key of a run: the trials of the plan that it serves}
        for trial in run_json(orch, "plan", recipe, "--all", *options, "--json")["trials"]:
            if trial["run"]:
                self.trials[trial["run"]].append(trial)
        for row in run_json(orch, "export", "--columns", "key,facts,setting", "-f", "json"):
            facts = row["facts"] or {}
            run = self.by_key.get(row["key"])
            if run is None:  # it ended since
                continue
            run["swept"] = {k: v for k, v in (facts.get("coords") or {}).items() if k != "seed"}
            run["disturbed"] = (facts.get("foreign_cpu") or 0) > DISTURBED_ABOVE

    def series(self, name):
        """{run: [(step, value)]} of a metric."""
        if name not in self.points:
            rows = run_json(self.orch, "export", "--what", "points", "-m", name, "-f", "json")
            series = collections.defaultdict(list)
            for row in rows:
                series[row["key"]].append((row["step"], row["value"]))
            self.points[name] = series
        return self.points[name]

    def is_timing(self, run, name):
        """Whether a value is a time or a rate; the units are those that one run of the plugin recorded."""
        if name == "wall_s":
            return True
        units, asked = self.units.setdefault(run["plugin"], ({}, collections.defaultdict(set)))
        if name not in units and len(asked[name]) < 8 and run["key"] not in asked[name]:  # a run has the units of what it recorded
            shown = run_json(self.orch, "show", run["key"], "--json")
            units |= shown.get("units") or {}
            units |= {m["name"]: m.get("unit") for m in (shown.get("metrics") or []) + (shown.get("system") or [])}
            asked[name].add(run["key"])
        unit = units.get(name) or ""
        return unit in ("s", "ms", "us", "ns", "min", "h") or unit.endswith("/s") or name.startswith("system/") and unit == "%"

    def table(self, key, name):
        """The rows of a CSV artifact, without blanks at their ends."""
        if (key, name) not in self.tables:
            text = subprocess.run([self.orch, "show", key, "-a", name], check=True, capture_output=True, text=True).stdout
            self.tables[key, name] = [{k.strip(): v.strip() for k, v in row.items()} for row in csv.DictReader(io.StringIO(text))]
        return self.tables[key, name]

    def value(self, run, wanted):
        """"result x", "last y", "mean z", "wall_s" or "x" of a run; NaN: it has none."""
        aggregate, _, name = wanted.rpartition(" ")
        if name == "wall_s":
            return run["wall_s"]
        if aggregate in ("", "result", "last") and run.get("result." + name) is not None:
            return run["result." + name]
        points = sorted(self.series(name).get(run["key"], []))
        values = [v for _, v in points if v is not None]
        if aggregate == "best":
            best = run.get("best." + name)
            return math.nan if best is None else best
        if aggregate == "mean" and name.startswith("system/") and values:  # a point weighs the seconds that it covers
            covered = [max(b - a, 1) for a, b in zip([0] + [s for s, _ in points], [s for s, _ in points])]
            pairs = [(c, v) for c, (_, v) in zip(covered, points) if v is not None]
            return sum(c * v for c, v in pairs) / sum(c for c, _ in pairs)
        reduce = {"min": min, "max": max, "first": lambda v: v[0], "count": len, "mean": lambda v: sum(v) / len(v)}
        return reduce.get(aggregate, lambda v: v[-1])(values) if values else math.nan


def axis(run, name):
    """A parameter, a field of the run, or what a report calls a machine, a GPU and threads."""
    if run.get("param." + name) is not None:
        return text_of(run["param." + name])
    threads = re.search(r"(\d+) threads?$", run["device_key"] or "")
    device = {"machine": f"{run['host']} {(run['machine'] or '')[:8]}", "gpu": run["device_key"], "threads": threads and threads.group(1)}
    value = device[name] if name in device else run.get(name)
    return None if value is None else text_of(value)


def is_said(run, axes, words):
    """Whether a setting in words is that of a run: "tune, learning rate 0.1" leaves out what all settings share, "2 workers" has the number first."""
    values = [axis(run, a) or "" for a in axes]
    is_value = lambda part, v: part == v or part.endswith(" " + v) or part.startswith(v + " ")
    return is_value(words, values[0]) if len(axes) == 1 else all(any(is_value(part, v) for v in values) for part in re.split(", | with ", words))


def label(run, axes):
    return " ".join(v for v in (axis(run, a) for a in axes) if v is not None)


def by_seed(pairs):
    """{seed: mean of its values}"""
    groups = collections.defaultdict(list)
    for seed, value in pairs:
        if value is not None and math.isfinite(value):
            groups[seed].append(value)
    return {seed: sum(v) / len(v) for seed, v in groups.items()}


def fieller(x, y):
    """The 95 % interval of mean(y) / mean(x) of two samples (Fieller 1954), with Welch and Satterthwaite's degrees of freedom."""
    a, b, q = x.var(ddof=1) / len(x), y.var(ddof=1) / len(y), y.mean() / x.mean()
    degrees = (q * q * a + b) ** 2 / ((q * q * a) ** 2 / (len(x) - 1) + b * b / (len(y) - 1))
    limit = stats.t.ppf(0.975, degrees) ** 2
    distance = lambda r: (y.mean() - r * x.mean()) ** 2 - limit * (b + r * r * a)
    ends = []
    for way in (-1, 1):
        step = abs(q) * 0.001
        while distance(q + way * step) < 0 and step < 1e9 * abs(q):
            step *= 2
        ends.append(optimize.brentq(distance, q, q + way * step, xtol=1e-15) if step < 1e9 * abs(q) else math.nan)
    return ends


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
            out.append(tuple(float(top * special.expit(logit - sign * step)) for sign in (1, -1)))
    return out


def ungrouped(text):
    """A text whose large numbers are written without commas between their digits."""
    return re.sub(r"(?<![\d,.])\d{1,3}(?:,\d{3})+(?![\d,])", lambda m: m.group(0).replace(",", ""), text)


class Pool:
    """The settings of a family of tests (each {seed: value}) whose scatter is alike by Bartlett's test, and Tukey's test of two of them."""

    def __init__(self, settings, note):
        every = [v for values in settings for v in values.values()]
        top = 100 if max(every, default=0) > 1 else 1
        scale = numpy.log if "logarithmic scale" in note else (lambda v: numpy.arcsin(numpy.sqrt(numpy.asarray(v) / top))) if "arcsin" in note else numpy.asarray
        self.given, self.is_share = len(settings), "arcsin" in note
        self.back = numpy.exp if "logarithmic scale" in note else (lambda v: top * numpy.sin(v) ** 2) if "arcsin" in note else (lambda v: v)
        self.of = [{seed: float(scale(v)) for seed, v in values.items()} for values in settings]
        self.has = [i for i, values in enumerate(settings) if len(values) > 1 and numpy.isfinite(list(values.values())).all() and len(set(values.values())) > 1]
        while len(self.has) > 2:
            squares, alike = self.estimate(False)
            if alike >= 0.1:
                squares, alike = self.estimate(True)
            if alike >= 0.1:
                break
            tails = [min(stats.chi2.cdf(x, n), stats.chi2.sf(x, n)) for x, n in ((squares[i] * (len(self.of[i]) - 1) / self.variance, len(self.of[i]) - 1) for i in self.has)]
            self.has.pop(int(numpy.argmin(tails)))
        self.has = self.has if len(self.has) > 2 else []

    def estimate(self, takes_seeds_out):
        of = {i: self.of[i] for i in self.has}
        self.by_seed = takes_seeds_out and len({frozenset(values) for values in of.values()}) == 1
        means = {i: numpy.mean(list(values.values())) for i, values in of.items()}
        share = 1 - 1 / len(of) if self.by_seed else 1
        left = {i: {seed: v - means[i] for seed, v in values.items()} for i, values in of.items()}
        shift = {seed: numpy.mean([left[i][seed] for i in of]) for seed in next(iter(of.values()))} if self.by_seed else {}
        left = {i: sum((v - shift.get(seed, 0)) ** 2 for seed, v in values.items()) for i, values in left.items()}
        n = {i: len(values) - 1 for i, values in of.items()}
        self.degrees = sum(n.values()) * share
        self.variance = sum(left.values()) / self.degrees
        squares = {i: left[i] / (n[i] * share) for i in of}
        total, k = sum(n.values()), len(of)
        statistic = total * math.log(sum(n[i] * squares[i] for i in of) / total) - sum(n[i] * math.log(squares[i]) for i in of)
        factor = 1 + (sum(1 / v for v in n.values()) - 1 / total) / (3 * (k - 1))
        return squares, float(stats.chi2.sf(max(0, statistic) / factor, k - 1))

    def test(self, a, b):
        """p, corrected p and the ends of the interval of b - a, which the interval of the plain means still joins."""
        x, y = self.of[a], self.of[b]
        if self.by_seed:
            own, degrees = numpy.var([x[s] - y[s] for s in x], ddof=1) / 2, len(x) - 1
        else:
            own, degrees = sum(numpy.var(list(v.values()), ddof=1) * (len(v) - 1) for v in (x, y)) / (len(x) + len(y) - 2), len(x) + len(y) - 2
        variance, left = self.variance, self.degrees
        if own > variance:
            variance, left = own, degrees if stats.f.sf(own / variance, degrees, left) < 0.1 else left
        p, q = float(numpy.mean(list(x.values()))), float(numpy.mean(list(y.values())))
        error = math.sqrt(variance * (1 / len(x) + 1 / len(y)))
        half = stats.studentized_range.ppf(0.95, self.given, left) * error / math.sqrt(2)
        share = lambda v: numpy.clip(v, 0, math.pi / 2) if self.is_share else v
        ends = [float(self.back(share(q + way * half / 2)) - self.back(share(p - way * half / 2))) for way in (-1, 1)]
        t = abs(q - p) / error
        single = float(2 * stats.t.sf(t, left))
        return single, max(single, float(stats.studentized_range.sf(t * math.sqrt(2), self.given, left))), *ends


class Section:
    def __init__(self, report, section, spec, runs):
        self.report, self.section, self.spec, self.runs = report, section, spec, runs
        self.of = [served for r in section["runs"] if r["key"] in runs.by_key for served in self.settings_of(runs.by_key[r["key"]])]
        self.labels = {r["key"]: r["label"] or "" for r in section["runs"]}
        self.at = set()  # places of a chart
        runs_here = {run["key"]: run["disturbed"] for run in self.of}
        self.known = [len(runs_here), sum(map(bool, runs_here.values()))]  # what was computed here: the numbers that its sentence may have
        quiet = {self.setting(run) for run in self.of if not run["disturbed"]}
        self.left_out = set() if report.counts_disturbed else {run["key"] for run in self.of if run["disturbed"] and self.setting(run) in quiet}

    def settings_of(self, run):
        """The run, once for each setting that it serves: a parameter that has no effect there (how one worker scales) tells them apart."""
        spec = self.spec if isinstance(self.spec, dict) else {}
        meant = listed(spec.get("experiments"))
        named = {word for value in spec.values() for v in listed(value) for word in re.findall(r"\w+", str(v))}
        axes = [a for a in [*named, *([] if "by" in spec or "rows" in spec else run["swept"])] if "param." + a in run]
        where, views = str(spec.get("where", "")), {}
        asked = [] if " or " in where else re.findall(r"(\w+) = (\w+)", where)
        for trial in self.runs.trials[run["key"]]:
            if meant and trial["experiment"] not in meant or any(isinstance(trial["params"].get(k), str) and trial["params"][k] != v for k, v in asked):
                continue
            view = {**run, **{f"param.{k}": v for k, v in trial["params"].items() if isinstance(run.get(f"param.{k}"), (str, bool))}}
            view |= {"experiment": trial["experiment"], "swept": {k: trial["params"].get(k, v) for k, v in run["swept"].items()}}
            own = self.report.recipe["experiments"].get(trial["experiment"]) or {}
            swept = [*(own.get("sweep") or {}), *(own.get("zip") or {}), *([] if own.get("search") is None else own["search"])]
            view["of"] = trial["experiment"], json.dumps({k: trial["params"].get(k) for k in swept if k != "seed"}, sort_keys=True)
            views.setdefault((label(view, axes), trial["experiment"] if "experiment" in named else ""), view)
        return list(views.values()) or [run]

    def setting(self, run):
        """What its repeats share. A run that serves several experiments may have been swept by another one."""
        return run.get("of") or (run["experiment"], json.dumps(run["swept"], sort_keys=True))

    def value(self, run, wanted):
        """A run's value as the section counts it: NaN for a time that a disturbed run is left out of."""
        name = wanted.rpartition(" ")[2]
        if run["key"] in self.left_out and self.runs.is_timing(run, name):
            return math.nan
        return self.runs.value(run, wanted)

    def printed(self, what, text, computed):
        """Compares a number in a sentence."""
        self.report.numbers += 1
        self.known.append(computed)
        if not rounds_to(text, computed):
            self.report.differ.append(f"{self.section['question']} {self.section['title']}: {what}: shown {text}, computed {computed}")

    def answer(self):
        return next((b["text"].replace("\n", " ") for b in self.blocks("answer")), "")

    def number(self, run, name):
        """A value of a run, or one of its parameters as a number."""
        return float(run["param." + name]) if run.get("param." + name) is not None else self.value(run, name)

    def compare(self, what, shown, computed, relative=TOLERANCE):
        self.report.numbers += 1
        self.known.append(computed)
        if not is_near(shown, computed, relative):
            self.report.differ.append(f"{self.section['question']} {self.section['title']}: {what}: shown {shown}, computed {computed}")

    @staticmethod
    def in_order(block):
        """The rows of a table with their cells in the order of the columns."""
        names = [re.sub(r"\s+", "_", header.lower()) for header in block["shown"]["headers"]]
        return [{**{n: row[n] for n in names if n in row}, **row} for row in block["rows"]]

    def blocks(self, kind):
        return [b for b in self.section["blocks"] if b["kind"] == kind]

    def seeds(self, chosen, wanted):
        return by_seed((run["seed"], self.value(run, wanted)) for run in chosen)

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
        self.known += [v for e in fits for v in e] + ([float(numpy.std(values, ddof=1))] if len(values) > 1 else [])
        return None

    def sentence(self):
        """Each number of a sentence about a table or lines is one of those computed here, or a quotient of two."""
        said = self.answer()[len(self.spec.get("verdict", "")):]
        text = re.sub(r"95 % interval |standard deviation (?=\d)|\d+ repeats: |\[[^\[\]]*\]", "", said)  # in square brackets: a setting
        if self.spec.get("ideal"):
            lines = [s["points"] for b in self.blocks("chart") for s in b["chart"]["series"] if s["role"] == "measured" and s["points"]]
            self.known += [y * k for p in lines for y in (p[0]["y"],) for k in (p[-1]["x"] / p[0]["x"], p[0]["x"] / p[-1]["x"])]
        known = sorted({float(v) for v in self.known if isinstance(v, (int, float)) and math.isfinite(v)})
        settings = {text_of(v) for run in self.of for k, v in run.items() if k.startswith("param.") or k == "repeat"} | {text_of(p) for p in self.at}
        for number, after in re.findall(r"(?:^|(?<=[ (]))(-?\d+(?:\.\d+)?(?:e[-+]?\d+)?)(?!\w|\.\d)(?=,? ?(\w*))", text):
            if after in ("settings", "classes", "workers", "run", "runs", "repeats") or number in settings:
                continue
            is_factor = after == "times"
            self.report.numbers += 1
            choices = [b / a for a in known for b in known if a] if is_factor else known
            if not any(rounds_to(number, v) or is_factor and is_near(float(number), v, 6e-3) for v in choices):
                self.report.differ.append(f"{self.section['question']} {self.section['title']}: sentence: shown {number}, which was not computed")

    def table(self):
        rows, columns, wanted = (listed(self.spec.get(k)) for k in ("rows", "columns", "value"))
        is_shared = any(len({t["experiment"] for t in self.runs.trials[r["key"]]}) > 1 for r in self.section["runs"])
        if is_shared and "experiment" in rows + columns:
            return False
        if self.spec.get("labels"):
            return self.turned_table(rows, wanted)
        head = ",_".join(rows).lower()
        for block in self.blocks("table"):
            for row in block["rows"]:
                of_row = [run for run in self.of if label(run, rows) == str(row.get(head))]
                for name, shown in row.items():
                    if name == head or name.endswith(("_spread", "_deviation")) or shown is None or isinstance(shown, str):
                        continue
                    spread = row.get(name + "_spread")
                    if columns:
                        chosen = [run for run in of_row if re.sub(r"\s+", "_", label(run, columns).lower()) == name]
                        for one, value in zip(listed(shown), wanted):
                            self.cell(f"{row[head]}, {name}, {value}", one, spread if value is wanted[0] else None, chosen, value)
                        continue
                    of_name = [w for w in wanted if re.sub(r"_\(.*\)$", "", name) in (w.split(" ")[-1].lower(), w.replace(" ", "_").lower())]
                    if len(of_name) == 1:
                        self.cell(f"{row[head]}, {name}", shown, spread, of_row, of_name[0])
        return True

    def turned_table(self, rows, wanted):
        """A row for each value, which begins with its label, and a column for each setting."""
        settings = {label(run, rows).lower().replace(" ", "_"): label(run, rows) for run in self.of}
        for block in self.blocks("table"):
            for row, value in zip(block["rows"], wanted):
                for name, shown in row.items():
                    if name in settings and isinstance(shown, (int, float)):
                        chosen = [run for run in self.of if label(run, rows) == settings[name]]
                        self.cell(f"{settings[name]}, {value}", shown, row.get(name + "_spread"), chosen, value)
        return True

    def of_series(self, name, metrics):
        """The runs of a line: those whose settings its name says."""
        by = self.spec.get("by")
        if by is not None:
            texts = lambda run: {" ".join(f"{a}={axis(run, a)}" for a in listed(by)), ", ".join(f"{a}={axis(run, a)}" for a in listed(by)),
                                 label(run, listed(by)), " ".join(axis(run, a) or "" if a == "experiment" else f"{a}={axis(run, a)}" for a in listed(by)), ", ".join(axis(run, a) or "" for a in listed(by))}
            named = [run for run in self.of if name in texts(run)]
            if named or "=" not in name and name not in {run["experiment"] for run in self.of}:
                return named  # else a parameter without effect is not in the name
        pairs = re.findall(r"([\w-]+)=([^ ,]+)", name)
        experiments = {run["experiment"] for run in self.of}
        words = [w for w in re.split(r"[ ,]+", name) if "=" not in w and w]
        if name in metrics or not pairs and not set(words) & experiments:
            return self.of
        return [run for run in self.of if all(axis(run, k) == v for k, v in pairs) and
                all(w == run["experiment"] for w in words if w in experiments)]

    def scatter(self, x, y):
        """Each point is a run, or the mean of a setting's runs; the sentence says their common slope."""
        groups = []
        for block in self.blocks("chart"):
            for series in block["chart"]["series"]:
                if series["role"] != "measured":
                    continue
                settings = collections.defaultdict(list)
                for run in self.of_series(series["name"], {y}):
                    pair = self.number(run, x), self.value(run, y)
                    settings[self.setting(run)].append(pair)
                    settings[run["key"]].append(pair)
                means = [numpy.mean(pairs, axis=0) for pairs in settings.values()]
                groups.append([numpy.mean(pairs, axis=0) for key, pairs in settings.items() if isinstance(key, tuple)])
                for point in series["points"]:
                    near = min(means, key=lambda m: abs(m[0] - point["x"]) + abs(m[1] - point["y"]), default=(None, None))
                    self.compare(f"{series['name']}, x", point["x"], near[0] if near[0] is None else float(near[0]))
                    self.compare(f"{series['name']}, y", point["y"], near[1] if near[1] is None else float(near[1]))
        self.slope(groups)
        return True

    def slope(self, groups):
        """y = level of the series + slope x, on the axes of the chart."""
        found = re.match(r".* changes by (?:a factor of )?(\S+)(?: [^( ]+)?(?: \(95 % interval (\S+) to (\S+)\))? for each (tenfold|\S+) ", self.answer())
        if not found:
            return
        logs = [self.spec.get(key) for key in ("log_x", "log_y")]
        rows = [(g, *(math.log10(v) if log else v for v, log in zip(pair, logs))) for g, group in enumerate(groups) for pair in group if len({p[0] for p in group}) > 1]
        of, x, y = (numpy.array(column) for column in zip(*rows))
        design = numpy.column_stack([x] + [of == g for g in sorted(set(of))]).astype(float)
        fit, left = numpy.linalg.lstsq(design, y, rcond=None)[:2]
        step = 1 if found.group(4) == "tenfold" else float(found.group(4))
        degrees = len(x) - design.shape[1]
        half = stats.t.ppf(0.975, degrees) * math.sqrt(left[0] / degrees * numpy.linalg.inv(design.T @ design)[0, 0]) if found.group(2) else 0
        for what, text, slope in (("slope", found.group(1), fit[0]), ("slope, low", found.group(2), fit[0] - half), ("slope, high", found.group(3), fit[0] + half)):
            if text:
                self.printed(what, text, 10 ** (slope * step) if logs[1] else slope * step)

    def distributions(self, y):
        """A histogram's series and the boxes: median, middle half and range of their runs."""
        patterns = (("median", 50, r"median (\S+?)[ ,]"), ("lower quartile", 25, r"middle half from (\S+) to"), ("upper quartile", 75, r"middle half from \S+ to (\S+?)[ ,]"),
                    ("lowest", 0, r"all from (\S+) to"), ("highest", 100, r"all from \S+ to (\S+?)[ ,]"))
        chart = self.blocks("chart")[0]["chart"]
        places, lines = chart["x_names"] if chart["kind"] == "box" else [None], [s for s in chart["series"] if s["role"] == "measured"]
        sets = [[self.value(run, y) for run in self.of_series(s["name"], {y}) if at is None or axis(run, self.spec["x"]) == at] for s in lines for at in places]
        sets = [values for values in ([v for v in of if math.isfinite(v)] for of in sets) if values]
        if self.answer().startswith("Median of "):  # of many: the lowest and the highest
            medians = [float(numpy.median(values)) for values in sets]
            for what, of, pattern in (("lowest median", min(medians), r"lowest of \d+ settings is (\S+)"), ("highest median", max(medians), r"highest is (\S+)")):
                self.printed(what, re.search(pattern, self.answer()).group(1), of)
            return True
        for part, values in zip(self.answer().split(". "), sets):
            for what, percent, pattern in patterns:
                found = re.search(pattern, part + " ")
                if found:
                    self.printed(what, found.group(1), float(numpy.percentile(values, percent)))
            if re.search(r"(\d+) runs", part):
                self.printed("runs", re.search(r"(\d+) runs", part).group(1), len(values))
        return True

    def plot(self):
        y = [w for w in listed(self.spec.get("y"))]
        x = self.spec["x"]
        if self.spec.get("kind", "bar") not in ("bar", "scatter", "box", "histogram") or len(y) > 1 and (self.spec.get("by") or self.spec.get("facet")):
            return False
        name = y[0].split(" ")[-1]
        if any(b["chart"]["kind"] == "scatter" for b in self.blocks("chart")):
            return self.scatter(x, y[0])
        if self.spec.get("kind") in ("box", "histogram"):
            return self.distributions(y[0])
        for block in self.blocks("chart"):
            names = block["chart"]["x_names"]
            if block["chart"]["kind"] not in ("line", "bar"):
                return False
            for series in block["chart"]["series"]:
                if series["role"] != "measured":
                    continue
                if len(y) > 1:  # a line for each value, and for each setting
                    y[0] = next(w for w in listed(self.spec["y"]) if series["name"].split(" ")[0] == w.split(" ")[-1])
                    name = y[0].split(" ")[-1]
                chosen = self.of_series(series["name"], {name, y[0]})
                if self.spec.get("facet") and series.get("panel"):
                    chosen = [run for run in chosen if series["panel"] in (f"{self.spec['facet']}={axis(run, self.spec['facet'])}", axis(run, self.spec["facet"]))]
                is_steps = all(isinstance(run.get("param." + x), list) or axis(run, x) is None for run in self.of)
                steps = {run["key"]: dict(self.runs.series(name).get(run["key"], [])) for run in chosen} if is_steps else {}
                for point in series["points"]:
                    at = names[int(point["x"])] if names else point["x"]
                    if is_steps:
                        values = by_seed((run["key"], steps[run["key"]].get(int(at))) for run in chosen)
                    else:
                        same = [run for run in chosen if axis(run, x) == (at if names else text_of(float(at)))]
                        values = by_seed((run["seed"], self.value(run, y[0])) for run in same)
                    values = list(values.values())
                    self.compare(f"{series['name']} at {at}", point["y"], sum(values) / len(values) if values else None)
                    self.at.add(point["x"])
                    self.known += [min(values), max(values)] if values else []
                    if point["low"] is not None and values:
                        fits = [e for e in intervals(values) if is_near(point["low"], e[0], 1e-6) and is_near(point["high"], e[1], 1e-6)]
                        self.compare(f"{series['name']} at {at}, interval", 0.0, 0.0 if fits else math.inf)
                        self.known += [v for e in fits for v in e]
        return True

    def timed_interval(self, what, spread, name, computed, timers, values):
        """Student's t over the trials' own times; the ends of a bandwidth are those of its time."""
        steps = numpy.array(timers.get("steps", 1.0))
        of = {name: numpy.array(timers[key]) * steps for name, key in (("computing", "compute"), ("exposed", "exposed"), ("waiting", "wait")) if key in timers}
        of["communication"] = numpy.array(timers["transfer"]) * steps if "transfer" in timers else of["exposed"] - of.get("waiting", 0)
        if "computing" in of and "exposed" in of:
            of["remaining"] = numpy.array(values) - of["computing"] - of["exposed"]
        own = of.get(name, of["communication"])
        half = stats.t.ppf(0.975, len(own) - 1) * stats.sem(own)
        low, high = own.mean() - half, own.mean() + half
        if name not in of:
            low, high = computed * own.mean() / high, computed * own.mean() / low if low > 0 else None
        for key, end in (("low", low), ("high", high)):
            self.compare(f"{what}, {key}", spread[key], end, 1e-6)

    def speedup(self):
        by, wanted, workers = listed(self.spec.get("by")), self.spec["value"], self.spec.get("workers", "workers")
        groups = collections.defaultdict(list)
        timers = {key: collections.defaultdict(list) for key in ("compute", "exposed", "wait", "steps", "bytes", "transfer") if key in self.spec}
        meant, links = listed(self.spec.get("experiments")), listed(self.spec.get("link"))
        reached = collections.defaultdict(list)  # {workers: the largest bandwidths of all-reduces alone}
        for run in self.of:
            if run["experiment"] in links:
                reached[float(axis(run, "workers"))].append(self.runs.value(run, "result largest_bandwidth"))
            value = self.value(run, wanted)
            if run.get("result.oversubscribed") or run["experiment"] in links and run["experiment"] not in meant:
                continue
            at = label(run, by), float(axis(run, workers))
            for values, number in [(groups[at], value)] + [(of[at], self.value(run, self.spec[key])) for key, of in timers.items()]:
                if math.isfinite(number):
                    values.append(number)
        mean = {key: sum(v) / len(v) for key, v in groups.items() if v}
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
                formulas |= {name: timed(key, (of, n)) for name, key in (("computing", "compute"), ("communication", "exposed"), ("waiting", "wait")) if key in timers}
                formulas["communication"] -= formulas["waiting"] if "exposed" in timers and "wait" in timers else 0
                if "transfer" in timers:
                    formulas["communication"] = timed("transfer", (of, n))
                if "bytes" in timers and timers["bytes"][of, n] and n > 1:
                    moved = 2 * (n - 1) / n * float(numpy.mean(timers["bytes"][of, n]))
                    formulas["bandwidth_(gb/s)"] = moved / formulas["communication"] / 1e9
                    if reached:
                        formulas["share_of_the_link"] = formulas["bandwidth_(gb/s)"] / float(numpy.mean(reached[n] or sum(reached.values(), [])))
                    formulas["moved_by_each_worker_(mb)"] = moved / 1e6
                formulas["remaining"] = value - formulas["computing"] - formulas["communication"] - formulas.get("waiting", 0)
                formulas |= {f"{name}_(s)": formulas[name] for name in ("computing", "communication", "waiting", "remaining") if name in formulas}
                for name, computed in formulas.items():
                    if isinstance(row.get(name), (int, float)):
                        self.compare(f"{of} {n}, {name}", row[name], computed)
                    spread = row.get(name + "_spread")
                    if spread and (name.removesuffix("_(s)") in ("computing", "communication", "waiting", "remaining") or name in ("bandwidth_(gb/s)", "share_of_the_link")):
                        self.timed_interval(f"{of} {n}, {name}", spread, name.removesuffix("_(s)"), computed, {k: v[of, n] for k, v in timers.items()}, groups[of, n])
                    if spread and name == "increase_(%)":
                        self.known += [100 * (end - 1) for end in fieller(numpy.array(groups[of, 1.0]), numpy.array(groups[of, n]))]
                    if spread and name in ("speedup", "share_of_the_ideal_n", "t(n)/t(1)", "t(1)/t(n)"):
                        sides = (groups[of, 1.0], groups[of, n])
                        over, under = sides[::-1] if name == "t(n)/t(1)" or is_rate else sides
                        ends = fieller(numpy.array(under), numpy.array(over))
                        scale = n if name == "share_of_the_ideal_n" else 1
                        if spread["low"] is None:  # shown as unbounded
                            self.compare(f"{of} {n}, {name}, unbounded", True, not all(map(math.isfinite, ends)))
                            continue
                        for key, end in zip(("low", "high"), ends):
                            self.compare(f"{of} {n}, {name}, {key}", spread[key], end / scale, 1e-6)
        return True

    def best(self):
        axes, wanted = listed(self.spec["by"]), self.spec["value"]
        found = re.match(r"Best of \d+ settings: (.*?)\. Its [^\d(-]* is [^\d(-]*(-?\d+(?:\.\d+)?(?:e[-+]?\d+)?)", self.answer())
        if not found:
            return True
        note = " ".join(b["text"] for b in self.blocks("note"))
        mean = lambda is_of, of: float(numpy.mean(list(self.seeds([run for run in self.of if is_of(run, axes, of)], wanted).values())))
        first, is_labelled = mean(is_said, found.group(1)), lambda run, axes, of: label(run, axes) == of
        self.printed("the winner's value", found.group(2), first)
        for block in self.blocks("table"):
            for row in block["rows"]:
                of = row[",_".join(axes).lower()]
                self.compare(f"{of}, value", row["value"], mean(is_labelled, of))
                self.compare(f"{of}, margin", row["winner_is_better_by"], abs(first - mean(is_labelled, of)))
                test = self.tukey(note, [r for r in self.of if is_said(r, axes, found.group(1))], [r for r in self.of if label(r, axes) == of]) if "Tukey" in note else None
                if test and row["p"] is not None:
                    self.printed_p(f"{of}, p", f"{row['p']:.4f}", test[1])
        return True

    def compare_sides(self):
        """Predicted beside measured: the errors, and the mean of their absolute values."""
        found = []
        for block in self.blocks("table"):
            for row in self.in_order(block):
                numbers = [(k, v) for k, v in row.items() if isinstance(v, (int, float))]
                error = next((v for k, v in numbers if "error" in k), None)
                sides = [v for k, v in numbers if "error" not in k]
                if error is None or len(sides) < 2:
                    continue
                found.append(100 * (sides[0] - sides[1]) / sides[1])
                self.compare(f"{list(row.values())[0]}, error", error, found[-1])
        for text in [b["text"] for b in self.blocks("answer")]:
            shown = re.search(r"mean error of \d+ predictions? is ([-\d.e+]+) %", text)
            if shown and found:
                self.printed("mean error", shown.group(1), float(numpy.mean(numpy.abs(found))))
        return bool(found)

    def pairs(self, base, other, wanted, axes, is_paired):
        """The values by seed of the runs that have a partner of equal seed and equal other settings, for a paired test; else of all runs."""
        rest = lambda run: (run["seed"], json.dumps({k: v for k, v in run["swept"].items() if k not in axes}, sort_keys=True))
        sides = [{}, {}]
        for side, chosen in zip(sides, (base, other)):
            for run in chosen:
                value = self.value(run, wanted)
                if math.isfinite(value):
                    side.setdefault(rest(run), []).append(value)
        common = set(sides[0]) & set(sides[1])
        keep = common if common and is_paired else None
        return [by_seed((key[0], float(numpy.mean(v))) for key, v in side.items() if keep is None or key in keep) for side in sides]

    def compare_before(self):
        """A value against the one that the same runs had before, by seed."""
        axes, found = listed(self.spec["by"]), False
        texts = [re.fullmatch(r"(.*?): ([-\d.e+]+)\b.* before, ([-\d.e+]+)\b.* after\. Difference: .*?95 % interval ([-\d.e+]+) to ([-\d.e+]+)\), [a-z ]+\. "
                              r"Test: paired t test of (\d+) pairs of runs, p ([\d.<e-]+), corrected p .*", b["text"]) for b in self.blocks("text")]
        for text in [t for t in texts if t]:
            chosen = [run for run in self.of if is_said(run, axes, text.group(1))]
            before, after = (self.seeds(chosen, self.spec[key]) for key in ("before", "value"))
            change = numpy.array([after[seed] - before[seed] for seed in before if seed in after])
            half = stats.t.ppf(1 - 0.025 / len([t for t in texts if t]), len(change) - 1) * stats.sem(change)
            for name, shown, computed in (("before", text.group(2), numpy.mean(list(before.values()))), ("after", text.group(3), numpy.mean(list(after.values()))),
                                          ("interval", text.group(4), change.mean() - half), ("interval", text.group(5), change.mean() + half)):
                self.printed(f"{text.group(1)}, {name}", shown, float(computed))
            self.compare(f"{text.group(1)}, pairs", int(text.group(6)), len(change))
            self.printed_p(f"{text.group(1)}, p", text.group(7), float(stats.ttest_1samp(change, 0).pvalue))
            found = True
        return found

    def compare_item(self):
        if "predicted" in self.spec:
            return self.compare_sides()
        if "before" in self.spec:
            return self.compare_before()
        axes, best_of, wanted = listed(self.spec["by"]), listed(self.spec.get("best_of")), self.spec["value"]
        texts = [b["text"] for b in self.blocks("text")]
        method = " ".join(b["text"] for b in self.blocks("note"))
        allowed = re.search(r"for (\d+) pairs|for (\d+) comparisons|for all (\d+) pairs", method)
        count = int(next(g for g in allowed.groups() if g)) if allowed else 1
        head = re.compile(r"(?P<of>.*?)(?: \(best: (?P<column>.*?)\))?: (?:median )?(?:(?:FASTER|SLOWER|SAME|UNSURE), )?(?P<own>[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?|inf|nan) ?(?P<rest>.*)", re.S)
        sides, baseline = {}, None
        for text in texts:
            found = head.fullmatch(text)
            if not found:
                continue
            chosen = [run for run in self.of if is_said(run, axes, found["of"]) and (not found["column"] or is_said(run, best_of, found["column"]))]
            values = list(self.seeds(chosen, wanted).values())
            if not values:  # a run that another experiment shares
                continue
            self.printed(f"{found['of']}, mean", found["own"], float(numpy.median(values)) if "median" in text.split(". ")[0] else float(numpy.mean(values)))
            sides[found["of"]] = chosen
            against = re.search(r"Difference from (the baseline): ([-+][\d.e+-]+|0)[^(]*\(95 % interval ([-\d.e+]+) to ([-\d.e+]+)\), [a-z ]*more than noise\. "
                                r"Test: (.*?) test of (\d+) (?:pairs of runs|and (\d+) repeats), p ([\d.<e-]+), corrected p ([\d.<e-]+)", found["rest"])
            if "Difference from" not in text:
                baseline = chosen
            if not against or baseline is None:
                continue
            if "Tukey" in against.group(5):
                test = self.tukey(method, baseline, chosen)
                self.compare(f"{found['of']}, in the pool", True, test is not None)
                self.printed_p(f"{found['of']}, p", against.group(8), test[0])
                self.printed_p(f"{found['of']}, corrected p", against.group(9), test[1])
                for text, end in zip(against.groups()[2:4], test[2:]):
                    self.printed(f"{found['of']}, interval", text, float(end))
                continue
            is_paired = against.group(5) == "paired t"
            base, other = self.pairs(baseline, chosen, wanted, axes + best_of, is_paired)
            if is_paired:
                seeds = sorted(set(base) & set(other))
                difference = numpy.array([other[k] - base[k] for k in seeds])
                self.compare(f"{found['of']}, pairs", int(against.group(6)), len(seeds))
                half = stats.t.ppf(1 - 0.025 / count, len(seeds) - 1) * stats.sem(difference)
                middle, p = difference.mean(), stats.ttest_1samp(difference, 0).pvalue
            else:
                x, y = (numpy.array(list(side.values())) for side in (other, base))
                test = stats.ttest_ind(x, y, equal_var=False)
                a, b = x.var(ddof=1) / len(x), y.var(ddof=1) / len(y)
                degrees = (a + b) ** 2 / (a * a / (len(x) - 1) + b * b / (len(y) - 1))
                middle, p, half = x.mean() - y.mean(), test.pvalue, stats.t.ppf(1 - 0.025 / count, degrees) * math.sqrt(a + b)
            self.printed(f"{found['of']}, difference", against.group(2), float(middle))
            self.printed(f"{found['of']}, interval", against.group(3), float(middle - half))
            self.printed(f"{found['of']}, interval", against.group(4), float(middle + half))
            for shown, computed in ((against.group(8), p), (against.group(9), min(1, p * count))):
                if shown.startswith("<"):
                    self.compare(f"{found['of']}, p below", True, bool(computed < float(shown[1:])))
                else:
                    self.printed(f"{found['of']}, p", shown, float(computed))
        return bool(sides)

    def gain(self):
        axes, value, cost = listed(self.spec["by"]), self.spec["value"], self.spec["cost"]
        order = list(dict.fromkeys(label(run, axes) for run in self.of))
        base_label = str(self.spec.get("baseline", order[0]))
        of = lambda name, wanted: self.seeds([run for run in self.of if label(run, axes) == name], wanted)
        for block in self.blocks("table"):
            for row in self.in_order(block):
                numbers = [v for k, v in row.items() if k != "seeds"]
                name = str(numbers[0])
                base, other, base_cost, other_cost = of(base_label, value), of(name, value), of(base_label, cost), of(name, cost)
                seeds = sorted(set(base) & set(other) & set(base_cost) & set(other_cost))
                y = numpy.array([other[k] - base[k] for k in seeds])
                x = numpy.array([100 * (other_cost[k] / base_cost[k] - 1) for k in seeds])
                self.compare(f"{name}, seeds", row["seeds"], len(seeds))
                self.compare(f"{name}, gained", numbers[1], float(y.mean()))
                self.compare(f"{name}, spent", numbers[2], float(x.mean()))
                if row.get("gained_per_%") is None or len(seeds) < 2:
                    continue
                self.compare(f"{name}, quotient", row["gained_per_%"], float(y.mean() / x.mean()))
                limit = stats.t.ppf(0.975, len(seeds) - 1)
                distance = lambda q: abs((y - q * x).mean()) / stats.sem(y - q * x) - limit  # Fieller: q where this is 0
                middle, far = y.mean() / x.mean(), abs(y.mean() / x.mean()) + y.std() / abs(x.mean()) + 1e-12
                ends = []
                for way in (-1, 1):
                    step = far
                    while distance(middle + way * step) < 0 and step < 1e9 * far:
                        step *= 2
                    ends.append(optimize.brentq(distance, middle, middle + way * step) if step < 1e9 * far else math.nan)
                shown = re.fullmatch(r"([-\d.e+]+)(?:\.\.| to )([-\d.e+]+)", str(row.get("95_%_interval")))
                if shown:
                    for text, end in zip(shown.groups(), ends):
                        self.printed(f"{name}, interval", text, end)
        return True

    # ---- families of tests ------------------------------------------------------------------------

    def settings(self, kind):
        """{the runs of a setting: its values by seed} of an item that compares settings."""
        axes, groups = listed(self.spec["by"]) + listed(self.spec.get("best_of") if kind == "compare" else None), collections.defaultdict(list)
        for run in self.of:
            if label(run, axes) is not None:
                groups[label(run, axes)].append(run)
        found = {frozenset(r["key"] for r in chosen): self.seeds(chosen, listed(self.spec["value"])[0]) for chosen in groups.values()}
        return {runs: values for runs, values in found.items() if values}

    def tukey(self, note, base, other):
        """Tukey's test of two settings (lists of runs) in the family of their question; None: they are not in its pool."""
        value = listed(self.spec["value"])[0]
        of_question = [(s, k) for s, k in self.report.tests if s.section is self.section or s.section["question"] and s.section["question"] == self.section["question"] and listed(s.spec["value"])[0] == value]
        is_loaded = lambda keys: any(self.runs.by_key[key]["disturbed"] and not self.runs.by_key[key].get("result.simulated") for key in keys)
        family, loaded = {}, is_loaded(run["key"] for run in base)
        for section, kind in of_question:
            for runs, values in section.settings(kind).items():
                if is_loaded(runs) == loaded:  # a simulation, which no load disturbs, is not tested against disturbed runs
                    family.setdefault(runs, values)
        pool, places = Pool(list(family.values()), note), list(family)
        a, b = (places.index(frozenset(r["key"] for r in side)) for side in (base, other))
        return pool.test(a, b) if a in pool.has and b in pool.has else None

    def printed_p(self, what, shown, computed):
        if shown.startswith("<"):
            self.compare(what + " below", True, bool(computed < float(shown[1:])))
        elif float(shown) > 0.001:  # the integrals of the range agree to five digits
            self.report.numbers += 1
            if abs(float(shown) - computed) > 2e-4:
                self.report.differ.append(f"{self.section['question']} {self.section['title']}: {what}: shown {shown}, computed {computed}")

    # ---- formulas, tables and pictures of runs ---------------------------------------------------

    def of_label(self, of):
        """The run that a calculation is about: by its label, its axes or its experiment."""
        by = listed(self.spec.get("by"))
        for run in self.of:
            if of in (self.labels[run["key"]], label(run, by) if by else None, f"{run['experiment']} {self.labels[run['key']]}".strip()):
                return run
        plain = lambda text: re.sub(r"(?: #|, repeat )\d+$", "", text)
        return next((run for run in self.of if of in (plain(self.labels[run["key"]]), run["experiment"])), None)

    def work(self):
        for text in [b["text"] for b in self.blocks("text")]:
            parts = text.split(" = ")
            head = re.fullmatch(r"(.*): (\w+)", parts[0], re.S)
            if len(parts) == 4 and head:
                by, end = listed(self.spec.get("by")), re.match(r"[-+\d.,e]+", parts[3])
                run = next((r for r in self.of if by and is_said(r, by, head.group(1))), None) or self.of_label(head.group(1))
                if run is None or not end:
                    continue
                alike = [other for other in self.of if by and label(other, by) == label(run, by)] or [run]
                number = lambda name: float(axis(run, name)) if re.fullmatch(r"[-+\d.e]+", axis(run, name) or "") and " " not in name \
                    else float(numpy.nanmean([self.value(other, name) for other in alike]))
                self.printed(f"{head.group(1)}: {head.group(2)}", end.group(0), evaluate(parts[1], number))
                continue
            plain = re.sub(r",(?=\d{3})", "", text)
            for sides in re.finditer(r"((?:[\d.]+|\()[-+*/() \d.]*[-+*/][-+*/() \d.]*?)(?: [a-z-]+)? = ([\d.]+)", plain):
                self.printed(sides.group(0), sides.group(2).rstrip("."), evaluate(sides.group(1), float))
        for block in self.blocks("table"):
            for row in block["rows"]:
                for name, cell in row.items():
                    sides = str(cell).split(";")[0].split(" = ")
                    if len(sides) == 2 and re.fullmatch(r"[-+*/() \d.,]+", sides[0]):
                        self.printed(f"{list(row.values())[0]}, {name}", sides[1].strip(), evaluate(sides[0].replace(",", ""), float))
        return True

    def listing(self):
        """The tables are those that the runs left."""
        run = None
        for block in self.section["blocks"]:
            found = re.search(r"run ([0-9a-f]{8})$", block.get("text") or "")
            if found:
                run = next((r for r in self.of if r["key"].endswith(found.group(1))), None)
            if block["kind"] != "table" or run is None:
                continue
            rows = self.runs.table(run["key"], self.spec["artifact"])
            self.compare("rows", len(block["shown"]["cells"]), len(rows))
            for cells, row in zip(block["shown"]["cells"], rows):
                for name, shown in zip(block["shown"]["headers"], cells):
                    own = row.get(name)
                    self.report.numbers += 1
                    if shown != ungrouped(own):
                        self.report.differ.append(f"{self.section['question']} {self.section['title']}: {name}: shown {shown}, the run has {own}")
        return True

    def images(self):
        """Each picture is a file of one of the section's runs, with the setting in its caption."""
        found = re.match(r"(\d+) pictures?\b", self.answer())
        if found:
            self.printed("pictures", found.group(1), sum(len(block["pictures"]) for block in self.blocks("pictures")))
        for block in self.blocks("pictures"):
            for picture in block["pictures"]:
                key = re.search(r"run ([0-9a-f]{8})$", picture["caption"]).group(1)
                run = next((r for r in self.of if r["key"].endswith(key)), None)
                with open(picture["path"], "rb") as file:
                    is_png = file.read(4) == b"\x89PNG"
                said = [str(axis(run, a)) for a in listed(self.spec.get("by")) if run and axis(run, a)]  # the name may be a label
                self.compare(f"{picture['caption']}, a picture of its run", 1, int(is_png and run is not None and all(t in picture["caption"] for t in said)))
        return True

    # ---- models ------------------------------------------------------------------------------------

    def paleo_scaling(self):
        """Throughputs of trainings from the runs; times, costs and errors from the throughputs."""
        images, price = float(self.spec.get("images", 50000)), self.spec.get("price")
        key = json.dumps({k: v for k, v in self.spec.items() if k not in ("show", "price", "images")}, sort_keys=True)
        rates = self.report.rates.setdefault(key, collections.defaultdict(dict))  # the charts' section has those of the errors'
        for block in self.blocks("table"):
            for row in block["rows"]:
                n = row["workers"]
                for name, shown in row.items():
                    series = name.split(":")[0]
                    if name == "workers" or shown is None:
                        continue
                    if "throughput" in name:
                        rates[series][n] = shown
                        names = listed(self.spec.get("experiments" if series == "measured" else "simulated"))
                        chosen = [run for run in self.of if run["experiment"] in names and axis(run, "workers") == text_of(n)]
                        if series != "predicted_(paleo)" and chosen:
                            self.compare(f"{series}, {n} workers", shown, float(numpy.mean(list(self.seeds(chosen, "result throughput").values()))))
                    elif "time_of" in name and n in rates[series]:
                        self.compare(f"{series}, {n} workers, time", shown, images / rates[series][n])
                    elif "cost_of" in name and n in rates[series]:
                        self.compare(f"{series}, {n} workers, cost", shown, images / rates[series][n] / 3600 * n * float(price))
                    elif "error" in name and rates and rates["measured"].get(n):
                        of = {"paleo": "predicted_(paleo)", "simgrid": "simulated_(simgrid)"}[series]
                        self.compare(f"{series}, {n} workers, error", shown + 100, 100 * rates[of][n] / rates["measured"][n])
        return True

    def published(self, count):
        """The rows of the recipe's own figures: {the words before them: the figures}."""
        rows = [text.split(" ") for text in listed(self.spec.get("published"))]
        return {tuple(row[:-count]): [None if w == "-" else float(w) for w in row[-count:]] for row in rows}

    def paleo_errors(self, row, of, measured):
        for kind in ("computed", "published"):
            value, error = row.get(f"paleo_{kind}_{of}"), row.get(f"error_{kind}_percent")
            if value is not None and measured is not None and error is not None:
                self.compare(f"{row}, error of the {kind} time", error + 100, 100 * value / measured)

    def paleo_passes(self):
        """Measured times from the runs, published ones from the recipe, errors from both."""
        results = {"forward": "result forward_sum", "backward": "result backward_sum", "update": "result update_time", "step": "result batch_time"}
        published = self.published(2)
        for block in self.blocks("table"):
            for row in block["rows"]:
                what = f"{row['network']} {row['pass']} {row['measured_by']}"
                own = published.get((row["network"].split(" ")[0], row["pass"]))
                if row["measured_by"] == "published" and own:
                    self.compare(f"{what}, published", row["paleo_published_ms"], own[0])
                    self.compare(f"{what}, measured", row["measured_ms"], own[1])
                elif row["measured_ms"] is not None:
                    times = [self.value(run, results[row["pass"]]) for run in self.of if axis(run, "net") == row["network"]]
                    self.compare(f"{what}, a run's time", row["measured_ms"], min(times, key=lambda t: abs(t - row["measured_ms"])) if times else None)
                self.paleo_errors(row, "ms", row["measured_ms"])
        return True

    def paleo_hybrid(self):
        """Published hours from the recipe, speedups against the first row of each parallelism, errors."""
        published, first = self.published(2), {}
        for block in self.blocks("table"):
            for row in block["rows"]:
                what = f"{row['parallelism']} {row['workers']}"
                own = published.get((row["parallelism"], text_of(row["workers"])))
                for name, figure in zip(("paleo_published_h", "measured_h"), own or ()):
                    self.compare(f"{what}, {name}", row.get(name), figure)
                base = first.setdefault(row["parallelism"], row)
                for hours, speedup in (("paleo_computed_h", "speedup_computed"), ("paleo_published_h", "speedup_published"), ("measured_h", "speedup_measured")):
                    if row.get(hours) is not None and row.get(speedup) is not None:
                        self.compare(f"{what}, {speedup}", row[speedup], base[hours] / row[hours])
                self.paleo_errors(row, "h", row.get("measured_h"))
        return True

    def paleo(self):
        """Images a second from the milliseconds beside them, and times at a PPP from those at 1."""
        whole, batch = {}, float(self.spec.get("batch", 1))
        for block in self.blocks("table"):
            for row in block["rows"]:
                if row.get("ms") is None or row.get("images/s") is None:
                    continue  # the table of ratios, below
                self.compare(f"{row['network']}, images/s", row["images/s"], 1000 * batch / row["ms"])
                whole.setdefault(row["network"], row["ms"] * row["ppp"])
                self.compare(f"{row['network']}, PPP {row['ppp']}", row["ms"], whole[row["network"]] / row["ppp"], 1e-6)  # the input is not divided
            for row in block["rows"]:
                for convention in ("1", "2"):
                    peak, ratio = (row.get(f"{name},_multiply-add_=_{convention}") for name in ("peak_images/s", "ratio_%"))
                    if peak and ratio:
                        self.compare(f"{row['network']}, ratio with {convention}", ratio, 100 * row["practical_images/s"] / peak)
        return True

    def speed_model(self):
        """Optimus' model by SciPy's non-negative least squares of relative errors, and its error at each setting."""
        wanted, learners = self.spec["value"], self.spec.get("workers", "workers")
        groups = collections.defaultdict(list)
        for run in self.of:
            value = self.value(run, wanted)
            if math.isfinite(value):
                groups[float(axis(run, "servers")), float(axis(run, learners))].append(value)
        points = [(p, w, float(numpy.mean(v))) for (p, w), v in groups.items()]
        if self.spec.get("mode", "asynchronous") != "asynchronous" or len(points) < 4:
            return False
        terms = numpy.array([[1 / w, 1 / p, 1, p / w] for p, w, _ in points])  # 1 / rate = (t0 + t1 w/p + t2 w + t3 p) / w
        rates = numpy.array([rate for _, _, rate in points])
        times, _ = optimize.nnls(terms * rates[:, None], numpy.ones(len(points)))
        fitted = {(p, w): 1 / float(row @ times) for (p, w, _), row in zip(points, terms)}
        for block in self.blocks("table"):
            for row in block["rows"]:
                setting = float(row["servers"]), float(row["workers"])
                measured = next(rate for p, w, rate in points if (p, w) == setting)
                self.compare(f"{setting}, measured", next(v for k, v in row.items() if k.startswith("measured")), measured)
                self.compare(f"{setting}, model", row["model"], fitted[setting], 1e-6)
                self.compare(f"{setting}, error", row["error_(%)"] + 100, 100 * fitted[setting] / measured, 1e-6)
                others = [i for i, (p, w, _) in enumerate(points) if (p, w) != setting]
                if row.get("left_out:_error_(%)") is not None:
                    own, _ = optimize.nnls(terms[others] * rates[others, None], numpy.ones(len(others)))
                    p, w = setting
                    rate = w / float(numpy.array([1, w / p, w, p]) @ own)
                    self.compare(f"{setting}, left out", row["left_out:_error_(%)"] + 100, 100 * rate / measured, 1e-6)
        return True

    def layerwise(self):
        """Measured batches from the runs; errors, epochs and their mean from the predictions beside them. The models are not fitted again."""
        errors = []
        for block in self.blocks("table"):
            for cells in block["shown"]["cells"]:
                row = dict(zip(block["shown"]["headers"][:2] + ["batch", "measured ms"], cells))
                measured = [self.value(run, self.spec["value"]) for run in self.of
                            if axis(run, "net") == row["net"] and text_of(int(row["batch"])) in (axis(run, "batch"), axis(run, "net_batch"))]
                own = min((m for m in measured if math.isfinite(m)), key=lambda m: abs(m - float(row["measured ms"])), default=None)
                self.printed(f"{row['net']}, batch {row['batch']}", row["measured ms"], own)
                for k, cell in enumerate(cells[4:]):
                    guess = re.fullmatch(r"([-\d.e+]+) \(([-+]\d+) %\)", cell)
                    if guess and own:
                        self.report.numbers += 1
                        error = 100 * (float(guess.group(1)) - own) / own
                        errors += [error] if k == 0 else []
                        if abs(error - float(guess.group(2))) > 0.6:
                            self.report.differ.append(f"{self.section['title']}: {row['net']}: shown {cell}, computed {error}")
        for text in [b["text"] for b in self.blocks("answer")]:
            shown = re.search(r"sum of a network's layer times misses the measured time of a batch by ([-\d.e+]+) %", text)
            if shown and errors:
                self.report.numbers += 1
                if abs(float(shown.group(1)) - float(numpy.mean(numpy.abs(errors)))) > 0.1 + 0.01 * float(shown.group(1)):  # four digits are printed
                    self.report.differ.append(f"{self.section['title']}: mean error: shown {shown.group(1)}, computed {numpy.mean(numpy.abs(errors))}")
        return bool(errors)

    def curve_law(self):
        """The regression on layers and device by least squares over the models of the section with the curves."""
        curves = self.report.curves
        for block in self.blocks("table"):
            for row in block["rows"]:
                if "per_layer" not in row or not curves:
                    continue
                devices = list(dict.fromkeys(device for _, device in curves))
                others = [d for d in devices[1:] if f"on_{d.replace(' ', '_')}" in row]
                used = [(net, d, c[row["of"]]) for (net, d), c in curves.items() if c.get(row["of"]) is not None]
                x = numpy.array([[1, float(net.split(":")[-1])] + [float(d == o) for o in others] for net, d, _ in used])
                y = numpy.array([v for _, _, v in used])
                beta, squares, _, _ = numpy.linalg.lstsq(x, y, rcond=None)
                residual = y - x @ beta
                errors = numpy.sqrt(residual @ residual / (len(y) - x.shape[1]) * numpy.diag(numpy.linalg.inv(x.T @ x)))
                names = [next(k for k in row if k.startswith("constant")), "per_layer"] + [f"on_{o.replace(' ', '_')}" for o in others]
                for name, b, error in zip(names, beta, errors):
                    self.compare(f"{row['of']}, {name}", row[name]["value"], float(b), 1e-6)
                    self.compare(f"{row['of']}, {name}, standard error", row[name]["standard_error"], float(error), 1e-6)
                self.compare(f"{row['of']}, R2", row["r2"], float(1 - residual @ residual / numpy.sum((y - y.mean()) ** 2)), 1e-6)
        return True

    def time_to(self):
        """Each time is the same number of steps over the steps a second of its row."""
        steps = []
        for block in self.blocks("table"):
            for row in block["rows"]:
                for name, rate in row.items():
                    time = row.get(name.replace("steps/s", "time"))
                    if name.startswith("steps/s") and rate and isinstance(time, (int, float)):
                        steps.append((f"{row['workers']} workers, {name}", rate * time))
        for what, count in steps:
            self.compare(what + ": steps", count, steps[0][1])
        return True

    def curve(self):
        """Whether the parameters shown fit the recorded losses as well as SciPy's, and their mean relative error."""
        for block in self.blocks("table"):
            for row in block["rows"]:
                if row.get("b0") is None or "error_%" not in row:
                    continue
                self.report.curves[row["network"], str(row["device"])] = row
                for run in self.of:
                    points = [(k, v) for k, v in sorted(self.runs.series(self.spec["value"]).get(run["key"], [])) if v is not None and k >= row["from_step"]]
                    if run["swept"].get("net", axis(run, "net")) != row["network"] or not run["device_key"].endswith(str(row["device"])) or len(points) != row["points"]:
                        continue
                    k, y = (numpy.array(c, float) for c in zip(*points))
                    fit = lambda b: 1 / (b[0] * k + b[1]) + b[2]
                    error = float(100 * numpy.mean(abs(fit((row["b0"], row["b1"], row["b2"])) - y) / y))
                    self.compare(f"{row['network']} on {row['device']}, error", row["error_%"], error, 1e-6)
                    break
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
                        settings[key].append((self.value(run, x), self.value(run, y)))
                pairs = [numpy.mean(v, axis=0) for v in settings.values()]
                if len(pairs) > 2 and row["rank_correlation"] is not None:
                    self.compare(f"{of}, rank correlation", row["rank_correlation"], float(stats.spearmanr(*zip(*pairs))[0]))
        return True

    def search(self):
        """Best points, device times (of trials on whole machines) and the winner's curse of searches without pruned and failed points."""
        for block in self.blocks("table"):
            for row in block["rows"]:
                if "search" not in row or row["pruned"] or row["failed"]:
                    continue
                experiment = self.report.recipe["experiments"][row["search"].split()[0]]
                direction, _, wanted = experiment["objective"]["metric"].partition(" ")
                swept = [word for word in row["search"].split()[1:]]
                points = collections.defaultdict(list)
                for run in self.of:
                    if run["experiment"] == row["search"].split()[0] and all(f"{k}={text_of(v)}" in swept for k, v in run["swept"].items() if k not in experiment["search"]):
                        points[self.setting(run)].append(run)
                sign = 1 if direction == "max" else -1
                ranked = sorted(([self.value(run, wanted) for run in runs] for runs in points.values()), key=lambda v: -sign * numpy.mean(v))
                self.compare(f"{row['search']}, points that ended", row["ended"], len(ranked))
                self.compare(f"{row['search']}, best", row["best"], float(numpy.mean(ranked[0])))
                time = sum(run["wall_s"] for runs in points.values() for run in runs)
                self.compare(f"{row['search']}, device time", row["device_time"], time)
                self.compare(f"{row['search']}, time of the grid", row["grid's_device_time"], row["settings_of_grid"] * time / len(ranked))
                self.curse(row["search"], ranked, sign)
        return True

    def curse(self, name, ranked, sign):
        """The sentence on a search's best point: `ranked` has the values of its points, the best first."""
        text = next((b["text"] for b in self.section["blocks"] if f" of {name}: " in (b.get("text") or "") and b["text"].lower().startswith("best of ")), "")
        found = re.search(r"partly luck, on average by at most (\S+)\. Without that luck it is (\S+)\. "
                          r"If all .*? lead by (\S+) or more in (?:(\d+) %|few cases \(p (<?)(\S+)\))", text)
        if not found:
            return
        n, better = len(ranked), ranked[:(len(ranked) + 1) // 2]
        degrees = sum(len(v) - 1 for v in better)
        sd = math.sqrt(sum(numpy.var(v) * len(v) for v in better) / degrees)
        excess = integrate.quad(lambda x: x * n * stats.norm.pdf(x) * stats.norm.cdf(x) ** (n - 1), -9, 9)[0] * sd / math.sqrt(len(ranked[0]))
        lead = abs(numpy.mean(ranked[0]) - numpy.mean(ranked[1]))
        error = sd * math.sqrt((1 / len(ranked[0]) + 1 / len(ranked[1])) / 2)
        rng = numpy.random.default_rng(1)
        tops = numpy.sort(rng.normal(size=(200000, n)), axis=1)[:, -2:]
        p = float(numpy.mean(tops[:, 1] - tops[:, 0] >= lead / error * numpy.sqrt(rng.chisquare(degrees, 200000) / degrees)))
        self.printed(f"{name}, excess", found.group(1), excess)
        self.printed(f"{name}, what is left", found.group(2), float(numpy.mean(ranked[0]) - sign * excess))
        self.printed(f"{name}, lead", found.group(3), lead)
        shown = float(found.group(4)) / 100 if found.group(4) else float(found.group(6))
        self.compare(f"{name}, luck", True, bool(p < shown if found.group(5) else abs(p - shown) < 0.01))

    def time_to_accuracy(self):
        axes, wanted = listed(self.spec["by"]), listed(self.spec["value"])
        reached = self.spec.get("reached", "result reached_target")
        logs = {}
        for block in self.blocks("table"):
            for row in block["rows"]:
                of = str(row[",_".join(axes).lower()])
                name = row.get("value", wanted[0]).split(" (")[0]
                value = next(w for w in wanted if w.split(" ")[-1] == name.split(" ")[-1])
                chosen = [run for run in self.of if label(run, axes) == of]
                own = [(run, self.value(run, value), self.value(run, reached)) for run in chosen]
                has = [time > 0 and math.isfinite(time) or at > 0 for _, time, at in own]
                self.compare(f"{of}, {name}, reached", row["reached"], sum(has) / len(has))
                is_left = lambda run: run["key"] in self.left_out and self.runs.is_timing(run, value.split(" ")[-1])
                counted = [(time, at) for run, time, at in own if not is_left(run)]
                times = [time if time > 0 and math.isfinite(time) else math.inf for time, at in counted if time > 0 or not at > 0]
                done = [t for t in times if math.isfinite(t)]
                if len(times) != row.get("counted", len(times)):
                    self.compare(f"{of}, {name}, runs that count", row["counted"], len(times))
                if isinstance(row.get("median"), (int, float)):
                    self.compare(f"{of}, {name}, median", row["median"], float(numpy.median(times)))
                if row.get("range"):
                    self.compare(f"{of}, {name}, lowest", row["range"][0], min(done))
                    self.compare(f"{of}, {name}, highest", row["range"][1], max(done))
                if len(done) > 1 and row.get("cv") is not None:
                    self.compare(f"{of}, {name}, cv", row["cv"], float(numpy.std(done, ddof=1) / numpy.mean(done)))
                if len(done) > 1 and row.get("95_%_interval") or row.get("cv_interval"):
                    squares = (len(done) - 1) * numpy.var(numpy.log(done), ddof=1)
                    ends = [math.sqrt(math.expm1(squares / stats.chi2.ppf(q, len(done) - 1))) for q in (0.975, 0.025)]
                    for shown, end in zip(row.get("cv_interval") or [], ends):
                        self.compare(f"{of}, {name}, interval of cv", shown, end, 1e-6)
                logs.setdefault(value, []).append((of, numpy.log(done)))
        for text in [b["text"] for b in self.blocks("text")]:
            found = re.fullmatch(r"coefficient of variation of ([^:]+): .*?F test, p ([\d.<e-]+)(, corrected for all comparisons \(Bonferroni\))?", text)
            # the sentence has words: the label, or the name without underscores and perhaps without its unit
            said = found and [v for v in logs if v.split(" ")[-1].replace("_", " ").startswith(found.group(1))]
            of_value = said[0] if said else next(iter(logs)) if found and len(logs) == 1 else None
            if not of_value:
                continue
            known = [values for _, values in logs[of_value] if len(values) > 1 and numpy.var(values) > 0]
            tails = [stats.f.sf(numpy.var(v, ddof=1) / numpy.var(known[0], ddof=1), len(v) - 1, len(known[0]) - 1) for v in known[1:]]
            p = min(1, len(tails) * min(2 * min(t, 1 - t) for t in tails))
            self.compare(f"{found.group(1)}, p below", True, bool(p < float(found.group(2)[1:]))) if found.group(2)[0] == "<" else \
                self.printed(f"{found.group(1)}, F test", found.group(2), p)
        return True


# Each returns False where it does not recompute the section.
KINDS = {"table": Section.table, "plot": Section.plot, "speedup": Section.speedup, "best": Section.best, "compare": Section.compare_item,
         "converged": Section.converged, "correlate": Section.correlate, "time_to_accuracy": Section.time_to_accuracy, "gain": Section.gain,
         "work": Section.work, "listing": Section.listing, "images": Section.images, "paleo_scaling": Section.paleo_scaling,
         "paleo_passes": Section.paleo_passes, "speed_model": Section.speed_model, "curve": Section.curve,
         "curve_law": Section.curve_law, "time_to": Section.time_to, "paleo": Section.paleo, "paleo_hybrid": Section.paleo_hybrid,
         "layerwise": Section.layerwise, "search": Section.search}


class Report:
    def __init__(self):
        self.numbers, self.differ, self.counts_disturbed = 0, [], False
        self.tests = []  # the sections that compare settings, with their kinds
        self.curves, self.rates = {}, {}  # what a section shows that a later one is about
        self.left, self.left_titles = collections.Counter(), []

    def check(self, orch, recipe, options):
        self.recipe = yaml.safe_load(open(recipe, encoding="utf-8"))
        items = self.recipe["report"]
        specs = {(str(item.get("question", "")), item.get("title")): item for item in items}
        profile = [o for i, o in enumerate(options) if o in ("--profile", "-P") or i and options[i - 1] in ("--profile", "-P")]
        runs = Runs(orch, recipe, profile)
        self.counts_disturbed = "--disturbed" in options
        sections = run_json(orch, "report", recipe, "--json", *options)["sections"]
        method = dict(b["text"].removeprefix("method ").split(": ", 1) for s in sections if s["kind"] == "method" for b in s["blocks"] if b["kind"] == "text")
        for section in sections:
            item = specs.get((section["question"] or "", section["title"]))
            if item and section["kind"] in ("best", "compare") and "value" in item[section["kind"]] and "predicted" not in item[section["kind"]]:
                self.tests.append((Section(self, section, item[section["kind"]], runs), section["kind"]))
        for section in sections:
            for block in section["blocks"]:
                if block.get("text"):
                    block["text"] = ungrouped(block["text"])
                if block.get("shown"):
                    block["shown"]["cells"] = [[ungrouped(cell) for cell in cells] for cells in block["shown"]["cells"]]
            for block in section["blocks"]:  # notes that stand once, at the end of the report
                found = re.fullmatch(r"how this was computed: method ([\d, ]+) at the end of the report", block.get("text") or "") if block["kind"] == "note" else None
                if found:
                    block["text"] = "; ".join(method.get(number, "") for number in found.group(1).split(", "))
            item = specs.get((section["question"] or "", section["title"]))
            kind = section["kind"]
            if not item or not section["runs"] and not kind.startswith("paleo"):
                continue
            before = self.numbers
            of = Section(self, section, item[kind], runs)
            if kind == "plot" and not of.blocks("chart"):
                continue  # the chart of another section, which says so, or nothing to draw
            is_done = kind in KINDS and KINDS[kind](of)
            if is_done and kind in ("table", "speedup") or is_done and kind == "plot" and of.at:
                of.sentence()
            if not is_done or self.numbers == before:
                self.left[kind] += 1
                self.left_titles.append(f"not recomputed: {section['question'] or ''} {section['title']} ({kind})")


def main(arguments):
    orch = "orch"
    if arguments[:1] == ["--orch"]:
        orch, arguments = arguments[1], arguments[2:]
    if not arguments:
        sys.exit(__doc__)
    report = Report()
    report.check(orch, arguments[0], arguments[1:])
    for line in report.differ + report.left_titles:
        print(line)
    left = ", ".join(f"{kind} ({count})" for kind, count in sorted(report.left.items()))
    print(f"{report.numbers} numbers recomputed, {len(report.differ)} differ; sections not recomputed: {left or 'none'}")
    return 1 if report.differ or not report.numbers else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
