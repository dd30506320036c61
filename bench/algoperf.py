#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ends of real trainings forecast from their beginnings: the validation losses of AlgoPerf's logged trainings (MLCommons, Apache-2.0;
github.com/mlcommons/submissions_algorithms, previous_leaderboards/*/logs; nothing of them is shipped), a curve each of at least 20 finite points. From
the first 20 and 50 % of the points the last loss is forecast, and the step that reaches the least loss of the first four fifths, where that was not yet
reached; "too early" is the share that promises 0.95 of the least loss of all within the training, which none reached. Beside orch curve: the last value seen; pow3, exp3, MMF and Janoschek (the forms of Domhan et al. 2015 that are usual), each fitted by
SciPy's least squares from several starts; and their mean by the weights of Akaike's criterion. The weights of LC-PFN and of ifBO's FT-PFN come from
servers that this program does not ask; --posterior adds what LC-PFN approximates (bench/curve_posterior.py; needs emcee, 5 s a curve).

usage: python3 bench/algoperf.py BUILD REPOSITORY [CURVES] [--posterior] (BUILD has bench_curve_forecasts; CURVES: so many
of them, in the order of their names' hashes, from its end if below 0; the first 600 chose the interval's width)
"""
import collections
import csv
import hashlib
import io
import math
import statistics
import subprocess
import sys
import tempfile

import numpy as np
from scipy.optimize import least_squares

FORMS = {
    "pow3": (lambda p, x: p[0] + p[1] * x ** -abs(p[2]), lambda y: ([y[-1] * 0.9, y[0] - y[-1], 0.5], [y[-1] * 0.5, y[0], 0.2], [y[-1], y[0] - y[-1], 1.5])),
    "exp3": (lambda p, x: p[0] + p[1] * np.exp(-abs(p[2]) * x), lambda y: ([y[-1] * 0.9, y[0] - y[-1], 3], [y[-1], y[0] - y[-1], 10])),
    "MMF": (lambda p, x: p[0] - (p[0] - p[1]) / (1 + (abs(p[2]) * x) ** abs(p[3])), lambda y: ([y[-1], y[0], 3, 1], [y[-1] * 0.9, y[0], 10, 0.7])),
    "Janoschek": (lambda p, x: p[0] - (p[0] - p[1]) * np.exp(-abs(p[2]) * x ** abs(p[3])), lambda y: ([y[-1], y[0], 3, 1], [y[-1] * 0.9, y[0], 2, 0.5])),
}


def curves(repository):
    names = subprocess.run(["git", "-C", repository, "ls-tree", "-r", "--name-only", "HEAD"], capture_output=True, text=True, check=True).stdout.split("\n")
    names = [n for n in names if n.endswith("/eval_measurements.csv")]
    batch = subprocess.run(["git", "-C", repository, "cat-file", "--batch"], input="\n".join("HEAD:" + n for n in names).encode(), capture_output=True,
                           check=True).stdout
    at = 0
    for name in names:
        end = batch.index(b"\n", at)
        size = int(batch[at:end].split()[2])
        text, at = batch[end + 1:end + 1 + size].decode(), end + size + 2
        points = {}
        for row in csv.DictReader(io.StringIO(text)):
            try:
                step, loss = float(row["global_step"]), float(row["validation/loss"])
            except (KeyError, TypeError, ValueError):
                continue
            if step >= 1 and math.isfinite(loss) and loss > 0:
                points.setdefault(step, loss)
        if len(points) >= 20:
            yield name.removeprefix("previous_leaderboards/").removesuffix("/eval_measurements.csv").replace(" ", "_"), sorted(points.items())


def fits(k, y, ends):
    """Of each form, and of their mean: the values at `ends` (of k)."""
    scale, x = ends[-1], np.array(k) / ends[-1]
    y, out, weights = np.array(y), {}, {}
    for name, (form, starts) in FORMS.items():
        best = None
        for start in starts(y):
            try:
                with np.errstate(all="ignore"):
                    found = least_squares(lambda p: np.nan_to_num(form(p, x) - y, nan=1e6, posinf=1e6, neginf=-1e6), start, max_nfev=400)
            except ValueError:
                continue
            best = found if best is None or found.cost < best.cost else best
        if best is None:
            continue
        with np.errstate(all="ignore"):
            out[name] = form(best.x, np.array(ends) / scale)
        weights[name] = len(y) * math.log(max(best.cost, 1e-300)) + 2 * len(best.x)
    if out:
        least = min(weights.values())
        w = {n: math.exp(-(weights[n] - least) / 2) for n in out}
        out["mean of these"] = sum(w[n] * out[n] for n in out) / sum(w.values())
    return out


def main():
    has_posterior = "--posterior" in sys.argv
    build, repository, *most = (word for word in sys.argv[1:] if word != "--posterior")
    found = dict(curves(repository))
    most = int(most[0]) if most else len(found)
    ways_names = [*FORMS, "mean of these"]
    if has_posterior:
        import curve_posterior
        ways_names.append("posterior")
    order = sorted(found, key=lambda n: hashlib.sha256(n.encode()).hexdigest())
    chosen = order[:most] if most > 0 else order[most:]
    print(f"{len(found)} trainings have 20 points or more; judged here: {len(chosen)}")
    orch = {}
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as table:
        table.write("name,step,loss\n")
        for name in chosen:
            table.writelines(f"{name},{k:.0f},{y:.9g}\n" for k, y in found[name])
        table.flush()
        for line in subprocess.run([f"{build}/bench_curve_forecasts", "ends", table.name, "name", "step", "loss"], capture_output=True, text=True,
                                   check=True).stdout.splitlines():
            name, share, *numbers = line.split("\t")
            orch[name, float(share)] = [float(x) for x in numbers]
    for share in (0.2, 0.5):
        errors, late, early = (collections.defaultdict(list) for _ in range(3))
        inside, posterior_inside, halves, unanswered = [], [], [], 0
        for name in chosen:
            k, y = zip(*found[name])
            seen = int(share * len(k))
            if (name, share) not in orch:
                unanswered += 1
                continue
            target = min(y[:len(y) * 4 // 5])
            when = next(s for s, v in found[name] if v <= target)
            last, half, reached, too_low = orch[name, share]
            answers = {"orch curve": last, "last value": y[seen - 1]}
            grid = np.array([*np.geomspace(k[seen - 1], 10 * k[-1], 400), k[-1]])
            ways = fits(k[:seen], y[:seen], grid)
            if has_posterior:
                ways["posterior"], low, high = curve_posterior.forecast(k[:seen], y[:seen], grid, k[-1])
                posterior_inside.append(bool(low[-1] <= y[-1] <= high[-1]))
            answers.update({n: v[-1] for n, v in ways.items()})
            for n, v in answers.items():
                errors[n].append(min(abs(math.log(v / y[-1])), 3.0) if math.isfinite(v) and v > 0 else 3.0)
            if math.isfinite(half):
                inside.append(abs(math.log(last / y[-1])) <= half)
                halves.append(half)
            early["orch curve"].append(too_low <= k[-1])
            for n, v in ways.items():
                early[n].append(bool((v[grid <= np.float64(k[-1])] <= 0.95 * min(y)).any()))
            if when > k[seen - 1]:
                times = {"orch curve": reached}
                for n, v in ways.items():
                    hit = np.nonzero(v[:-1] <= target)[0]
                    times[n] = grid[hit[0]] if len(hit) else math.nan
                for n, v in times.items():
                    late[n].append(min(abs(math.log(v / when)), 3.0) if math.isfinite(v) else 3.0)
        print(f"\nfrom the first {100 * share:.0f} %: {len(errors['orch curve'])} curves ({unanswered} without a fit); orch's 90 % interval holds in "
              f"{100 * statistics.mean(inside):.0f} %, median factor {math.exp(statistics.median(halves)):.2f}")
        print(f"{'':16} {'last loss: median':>18} {'mean':>7} {'step to target: median':>24} {'never':>6} {'too early':>10}   ({len(late['orch curve'])} curves)")
        if has_posterior:
            print(f"the posterior's 90 % interval holds in {100 * statistics.mean(posterior_inside):.0f} %")
        for n in ["orch curve", "last value", *ways_names]:
            e, t = errors[n], late.get(n)
            print(f"{n:16} {100 * math.expm1(statistics.median(e)):16.1f} % {100 * math.expm1(statistics.mean(e)):5.1f} % "
                  + (f"{100 * math.expm1(statistics.median(t)):22.0f} % {100 * statistics.mean(x == 3.0 for x in t):4.0f} % "
                     f"{100 * statistics.mean(early[n]):8.0f} %" if t else ""))


if __name__ == "__main__":
    main()
