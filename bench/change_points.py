#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Judges the steps that the report item `commits` names on the Turing Change Point Dataset (van den Burg and Williams 2020, MIT).

    python3 bench/change_points.py BUILD TCPD [--published SCORES] [--also NAME=COMMAND] [--series]
    python3 bench/change_points.py BUILD --simulated

TCPD is a clone of github.com/alan-turing-institute/TCPD (bare or not). Judged are the series of one dimension without gaps that its
repository contains; the others have to be downloaded. F1 is the one of TCPDBench with a margin of 5, in which the first place counts
as a change. Series are ordered by name: what was chosen (constants of features/bisect/change_steps.c) was chosen on the first, third,
... of them, and the others were held out. Peers: `zero` names nothing; PELT and binary segmentation of `ruptures` on series
of unit variance with the penalty 3 log n, where it can be imported. SCORES: TCPDBench's analysis/output/scores/default_f1_scores.json, the
published scores of each series. COMMAND: another program that answers as bench_change_points does.

--simulated counts the series without a step in which one is named, and those with one in which it is found."""
import argparse, json, math, random, shlex, subprocess

MARGIN = 5
PUBLISHED = ("binseg", "pelt", "amoc", "bocpd", "segneigh", "cpnp")


def found(true, named):
    """How many of `true` have a place of `named` within the margin; none of these counts twice."""
    left, count = set(named), 0
    for place in true:
        near = min(((abs(place - other), other) for other in left), default=(math.inf, None))
        if near[0] <= MARGIN:
            left.remove(near[1])
            count += 1
    return count


def f1(annotations, places):
    each = [set(own) | {0} for own in annotations.values()]
    named, union = set(places) | {0}, set().union(*each)
    precision = found(union, named) / len(named)
    recall = sum(found(own, named) / len(own) for own in each) / len(each)
    return 2 * precision * recall / (precision + recall)


def read(repository):
    def git(*words):
        return subprocess.run(("git", "-C", repository) + words, check=True, capture_output=True, text=True).stdout
    annotations, series = json.loads(git("show", "HEAD:annotations.json")), {}
    for path in sorted(git("ls-tree", "-r", "--name-only", "HEAD", "datasets").split()):
        if not path.endswith(".json"):
            continue
        data = json.loads(git("show", "HEAD:" + path))
        values = data["series"][0]["raw"]
        if data["n_dim"] == 1 and all(v is not None and v == v for v in values) and data["name"] in annotations:
            series[data["name"]] = (values, annotations[data["name"]])
    return series


def program(command, series):
    lines = "".join(" ".join(map(repr, values)) + "\n" for values, _ in series.values())
    out = subprocess.run(command, input=lines, check=True, capture_output=True, text=True).stdout
    return {name: [int(word.split(":")[0]) for word in line.split()] for name, line in zip(series, out.split("\n"))}


def peers(series):
    yield "zero", {name: [] for name in series}
    try:
        import numpy, ruptures
    except ImportError:
        return
    for name, kind in (("ruptures PELT", ruptures.Pelt), ("ruptures BinSeg", ruptures.Binseg)):
        answers = {}
        for key, (values, _) in series.items():
            unit = numpy.array(values, float)
            unit = (unit - unit.mean()) / unit.std()
            answers[key] = kind(model="l2", min_size=1, jump=1).fit(unit).predict(pen=3 * math.log(len(unit)))[:-1]
        yield name, answers


def simulated(build, count=200):
    def noise(length, correlation):
        values = [random.gauss(0, 1)]
        while len(values) < length:
            values.append(correlation * values[-1] + random.gauss(0, 1))
        return values
    kinds = (("independent noise", 0, lambda t: 0), ("AR(1) of 0.5", 0.5, lambda t: 0), ("AR(1) of 0.8", 0.8, lambda t: 0),
             ("random walk", 1, lambda t: 0), ("noise on a line that rises by 10 deviations", 0, lambda t: 10 * t),
             ("noise on a parabola that rises by 10", 0, lambda t: 10 * t * t))
    random.seed(1)
    print("share of", count, "series, by length:    12    60   200")
    for name, correlation, curve in kinds + tuple((f"step of {size} in the middle, found", size, None) for size in (2, 3, 5)):
        shares = []
        for length in (12, 60, 200):
            at = length // 2
            series = {i: ([v + (curve(t / length) if curve else correlation * (t >= at)) for t, v in
                           enumerate(noise(length, correlation if curve else 0))], None) for i in range(count)}
            named = program([build + "/bench_change_points"], series).values()
            shares.append(sum(bool(places) if curve else any(abs(p - at) <= 1 for p in places) for places in named) / count)
        print(f"{name:45s}", *(f"{share:5.3f}" for share in shares))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("tcpd", nargs="?")
    parser.add_argument("--simulated", action="store_true")
    parser.add_argument("--published")
    parser.add_argument("--also", action="append", default=[])
    parser.add_argument("--series", action="store_true", help="a line for each series")
    options = parser.parse_args()
    if options.simulated:
        return simulated(options.build)
    series = read(options.tcpd)
    answers = {"orch": program([options.build + "/bench_change_points"], series)}
    for also in options.also:
        name, command = also.split("=", 1)
        answers[name] = program(shlex.split(command), series)
    answers.update(peers(series))
    scores = {method: {name: f1(series[name][1], places) for name, places in of.items()} for method, of in answers.items()}
    if options.published:
        published = json.load(open(options.published))
        for method in PUBLISHED:
            if all(published[name].get(method) is not None for name in series):
                scores["published " + method] = {name: published[name][method] for name in series}
    names = sorted(series)
    print(f"{len(names)} series\n{'F1':24s}    all  chosen on  held out")
    for method, of in scores.items():
        parts = [[of[name] for name in part] for part in (names, names[::2], names[1::2])]
        print(f"{method:24s}", *(f"{sum(part) / len(part):{width}.3f}" for part, width in zip(parts, (6, 10, 9))))
    if options.series:
        for name in names:
            print(f"{name:20s}", *(f"{method} {of[name]:.2f}" for method, of in scores.items()), answers["orch"][name])


if __name__ == "__main__":
    main()
