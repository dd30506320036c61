#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Agreement of simulated and computed all-reduces and training steps with measured ones.

bench/agreement.sh [BUILD] [DATA] calls it. Three tables of relative errors, each of what was left out of the calibration.
1. This machine, 2 workers. Calibrated on all-reduces of 1, 4, 16 ... KiB, of the same algorithm or of recursive doubling
   alone: between two neighbouring sizes time is a straight line, which is a latency and a bandwidth. Judged: the sizes between. A time is
   the shortest of up to 300, which other programs disturb least.
2. This machine, a training step of 2 workers: computing from a training of one worker with the same batch a worker, the
   link from part 1. Judged: the time of the step and of its communication.
3. Published NCCL all-reduces (DATA/nccl_allreduce.csv): c + 2(n-1) a + 2(n-1)/n S/B, fitted to all other GPU counts.
   Judged: each GPU count, left out whole.
4. Published iterations of GPT-like transformers with tensor, data and pipeline parallelism (DATA/vtrain_*.csv): a non-negative
   sum of TERMS, fitted to all other GPU counts, for several nodes with the rows of one node as well. Judged: each GPU count."""
import csv, json, math, os, subprocess, sys, tempfile

KIB = 1024
VOCABULARY = 51200  # GPT-2's, padded
EVEN = [KIB << (2 * i) for i in range(10)]  # calibration: 1 KiB to 256 MiB
ODD = [2 * KIB << (2 * i) for i in range(9)]  # judged: 2 KiB to 128 MiB
ALGORITHMS = ["recursive_doubling", "ring", "reduce_broadcast", "rabenseifner"]
# of 2 workers: messages after one another, and how often all bytes cross the link
COSTS = {"recursive_doubling": (1, 1), "ring": (2, 1), "reduce_broadcast": (2, 2), "rabenseifner": (2, 1)}
PALEO = {"recursive_doubling": 1, "reduce_broadcast": 2}  # butterfly and tree: no latency


def mean_error(pairs):
    """exp(mean |log(predicted / measured)|) - 1 in per cent: the geometric mean of the factors."""
    logs = [abs(math.log(p / m)) for p, m in pairs if p and m]
    return 100 * (math.exp(sum(logs) / len(logs)) - 1) if logs else math.nan


def line(name, pairs):
    worst = max((abs(p / m - 1) for p, m in pairs), default=math.nan)
    print(f"  {name:<46}{len(pairs):>5}{mean_error(pairs):>12.1f}{100 * worst:>12.1f}")


def head(title):
    print(f"\n{title}\n  {'':<46}{'n':>5}{'error %':>12}{'worst %':>12}")


class Orch:
    def __init__(self, build):
        self.program, self.folder = os.path.join(build, "orch"), tempfile.mkdtemp()

    def call(self, *words):
        return subprocess.run([self.program, *words], cwd=self.folder, capture_output=True, text=True)

    def run(self, name, experiments):
        with open(os.path.join(self.folder, name + ".recipe"), "w") as out:
            out.write(f"format: 1\nrecipe: {name}\nexperiments:\n" + "".join(f"  {k}: {{ {v} }}\n" for k, v in experiments.items()))
        done = self.call("run", name + ".recipe", "-q", "--db", name + ".db")
        if done.returncode:
            print(done.stderr.strip())
        return name + ".db"

    def rows(self, db, *words):
        return json.loads(self.call("export", "--db", db, "--format", "json", *words).stdout or "[]")


def measured_all_reduces(orch):
    """(algorithm, bytes) -> seconds."""
    sizes = ", ".join(str(size) for size in sorted(EVEN + ODD))
    db = orch.run("measured", {"m": "plugin: allreduce, resources: { exclusive: true }, with: { workers: 2, repeats: 300, time_limit: 1s, "
                                    f"bytes: [{sizes}] }}, sweep: {{ algorithm: [{', '.join(ALGORITHMS)}] }}"})
    points = orch.rows(db, "--what", "points", "-m", "min_time", "-c", "key,algorithm")
    return {(p.get("param.algorithm", p.get("algorithm")), int(p["step"])): float(p["value"]) for p in points}


def segments(measured, algorithm):
    """Latency and bandwidth of a link between neighbouring sizes of one algorithm: [(upper bytes, a, B)]."""
    times, (messages, volume) = [measured[algorithm, size] for size in EVEN], COSTS[algorithm]
    found = []
    for i in range(len(EVEN) - 1):
        slope = max((times[i + 1] - times[i]) / (EVEN[i + 1] - EVEN[i]), 1e-15)
        found.append((EVEN[i + 1], max(times[i] - slope * EVEN[i], 1e-9) / messages, volume / slope))
    return found


def link(found, size):
    return next((a, b) for upper, a, b in found if size <= upper)


def simulated(orch, name, cases):
    """[(algorithm, bytes, a, B)] -> seconds by (algorithm, bytes)."""
    experiments = {f"s{i}": f"plugin: simcluster, with: {{ workers: 2, algorithm: {g}, bytes: {s}, latency: {a * 1e6:.6f}, bandwidth: {b / 1e9:.9f} }}"
                   for i, (g, s, a, b) in enumerate(cases)}
    rows = orch.rows(orch.run(name, experiments))
    return {(r["param.algorithm"], int(r["param.bytes"])): r["result.step_time"] for r in rows if r.get("result.step_time")}


def part_all_reduce(orch):
    measured = measured_all_reduces(orch)
    if len(measured) < len(ALGORITHMS) * len(EVEN + ODD):
        print("\nall-reduces on this machine: skipped, the measurements are not complete")
        return None, None
    own = {g: segments(measured, g) for g in ALGORITHMS}
    one = own["recursive_doubling"]
    for title, found in (("on the same algorithm", own), ("on recursive doubling alone", {g: one for g in ALGORITHMS})):
        times = simulated(orch, "own" if found is own else "one", [(g, s, *link(found[g], s)) for g in ALGORITHMS for s in ODD])
        head(f"all-reduce of 2 workers on this machine, 2 KiB to 128 MiB, calibrated {title}")
        for g in ALGORITHMS:
            messages, volume = COSTS[g]
            line(f"{g}: SimGrid", [(times[g, s], measured[g, s]) for s in ODD if (g, s) in times])
            line(f"{g}: formula", [(messages * link(found[g], s)[0] + volume * s / link(found[g], s)[1], measured[g, s]) for s in ODD])
            if g in PALEO:
                line(f"{g}: PALEO (bandwidth alone)", [(PALEO[g] * s / found[g][-1][2], measured[g, s]) for s in ODD])
        line("all: SimGrid", [(times[k], measured[k]) for k in times])
    return measured, own["ring"]


def part_step(orch, found):
    common = 'dataset: synthetic, image_size: 32, net: "resnet-cifar:8", per_class: 96, val_images: 10, full_validation: false, epochs: 3, lr: 0.05, threads: 1'
    rows = orch.rows(orch.run("steps", {
        "one": f"plugin: scaling, resources: {{ exclusive: true }}, with: {{ {common}, workers: 1, batch: 32, scaling: weak }}",
        "two": f"plugin: scaling, resources: {{ exclusive: true }}, with: {{ {common}, workers: 2, batch: 32, scaling: weak, algorithm: ring }}"}))
    runs = {r["experiment"]: r for r in rows if r.get("result.step_time")}
    if len(runs) < 2:
        print("\ntraining step on this machine: skipped, no training was measured")
        return
    a, b = link(found, int(runs["two"]["result.parameter_bytes"]))
    rows = orch.rows(orch.run("step", {"s": f'plugin: simcluster, with: {{ workers: 2, net: "resnet-cifar:8", input: 3x32x32, batch: 32, scaling: weak, '
                                            f'algorithm: ring, step_time: {runs["one"]["result.compute_time"]:.9f}, latency: {a * 1e6:.6f}, bandwidth: {b / 1e9:.9f} }}'}))
    if not rows or not rows[0].get("result.step_time"):
        print("\ntraining step on this machine: skipped, nothing was simulated")
        return
    head("step of 2 workers on this machine, ResNet-8, 32 images a worker")
    two, s = runs["two"], rows[0]
    line("step: SimGrid, computing of one worker alone", [(s["result.step_time"], two["result.step_time"] - two["result.data_time"])])
    line("communication: SimGrid", [(s["result.communication_time"], two["result.communication_time"])])
    print(f"  computing of a step: {1e3 * runs['one']['result.compute_time']:.2f} ms with one worker, {1e3 * two['result.compute_time']:.2f} ms with two")


def fit_ring(rows):
    """Least squares of relative errors of c + 2(n-1) a + 2(n-1)/n S/B: (c, a, 1/B), none below 0."""
    best = None
    for use in [(0, 1, 2), (0, 2), (1, 2), (2,)]:  # leaves out what would be below 0
        terms = [[(1, 2 * (n - 1), 2 * (n - 1) / n * size)[k] / t for k in use] for n, size, t in rows]
        x = solve([[sum(r[i] * r[j] for r in terms) for j in range(len(use))] for i in range(len(use))],
                  [sum(r[i] for r in terms) for i in range(len(use))])
        if x and min(x) >= 0:
            error = sum((sum(v * w for v, w in zip(x, r)) - 1) ** 2 for r in terms)
            if best is None or error < best[0]:
                best = (error, [x[use.index(k)] if k in use else 0 for k in range(3)])
    return best[1]


def solve(a, b):
    n = len(b)
    m = [row[:] + [value] for row, value in zip(a, b)]
    for i in range(n):
        p = max(range(i, n), key=lambda k: abs(m[k][i]))
        m[i], m[p] = m[p], m[i]
        if abs(m[i][i]) < 1e-300:
            return None
        for k in range(n):
            if k != i:
                f = m[k][i] / m[i][i]
                m[k] = [u - f * v for u, v in zip(m[k], m[i])]
    return [m[i][n] / m[i][i] for i in range(n)]


def part_nccl(data):
    path = os.path.join(data, "nccl_allreduce.csv")
    if not os.path.exists(path):
        print(f"\nNCCL's published all-reduces: skipped, there is no {path}")
        return
    rows = [(r["gpu"], int(r["gpus"]), int(r["bytes"]), float(r["us_out_of_place"]) * 1e-6) for r in csv.DictReader(open(path))]
    head("NCCL all-reduces within a node, 1 MiB to 1 GiB, each GPU count left out whole")
    for gpu in sorted({r[0] for r in rows}):
        pairs = []
        for n in sorted({r[1] for r in rows if r[0] == gpu}):
            c, a, beta = fit_ring([r[1:] for r in rows if r[0] == gpu and r[1] != n])
            own = [(c + 2 * (n - 1) * a + 2 * (n - 1) / n * size * beta, t) for g, m, size, t in rows if (g, m) == (gpu, n)]
            line(f"{gpu}, {n} GPUs: ring", own)
            pairs += own
        line(f"{gpu}, all: ring", pairs)


def transformer_terms(r):
    """What an iteration's milliseconds are a sum of (Narayanan et al. 2021, section 3: operations with recomputation, 1F1B pipeline, tensor-parallel
    all-reduces of each layer), all for one GPU. r: a row of vtrain_*.csv as numbers."""
    b, s, h, t, d, p = (r[name] for name in ("micro_batch", "seq", "hidden", "tensor", "data", "pipeline"))
    slots = r["global_batch"] / (b * d) + p - 1  # micro-batches that fit one after the other, the pipeline's filling included
    layers, tokens, is_one_node = slots * r["layers"] / p, b * s, r["gpus"] <= 8
    weights = (12 * h * h * r["layers"] / p + VOCABULARY * h) / t
    reduced, shared = 2 * (d - 1) / d * weights, layers * 2 * (t - 1) / t * tokens * h
    return [layers * 96 * tokens * h * h * (1 + s / (6 * h)) / t,  # operations of the layers
            slots * 6 * tokens * h * VOCABULARY / t,               # of the last layer
            layers, layers * tokens * h / t, layers * tokens * h, layers * tokens * s * r["heads"] / t,  # launches, memory traffic
            layers * (t > 1), shared, shared * (t > 8),            # tensor-parallel all-reduces; across nodes
            slots * tokens * h * (p > 1),                          # between stages of the pipeline
            reduced * is_one_node, reduced * (not is_one_node),    # data-parallel all-reduce
            weights, 1.0]                                          # update; what is left


def fit_nonnegative(terms, times):
    """Coefficients >= 0 that minimise the relative errors: coordinate descent on the normal equations."""
    rows = [[value / t for value in row] for row, t in zip(terms, times)]
    n = range(len(rows[0]))
    scale = [math.sqrt(sum(r[i] ** 2 for r in rows)) or 1 for i in n]
    a = [[sum(r[i] * r[j] for r in rows) / scale[i] / scale[j] for j in n] for i in n]
    b = [sum(r[i] for r in rows) / scale[i] for i in n]
    x = [0.0 for _ in n]
    for _ in range(20000):
        change = 0
        for i in n:
            if a[i][i] > 0:
                value = max(0, x[i] + (b[i] - sum(u * v for u, v in zip(a[i], x))) / a[i][i])
                change, x[i] = max(change, abs(value - x[i])), value
        if change < 1e-10:
            break
    return [value / unit for value, unit in zip(x, scale)]


def part_transformers(data):
    def read(name):
        path = os.path.join(data, name)
        return [{k: float(v) for k, v in r.items() if k not in ("gpu", "split")} for r in csv.DictReader(open(path))] if os.path.exists(path) else []
    one, several = read("vtrain_single.csv"), read("vtrain_multi.csv")
    if not one:
        print(f"\nPublished iterations of transformers: skipped, there is no {data}/vtrain_single.csv")
        return
    head("Iterations of GPT-like transformers on A100s, each GPU count left out whole")
    for title, rows, more in ("one node", one, []), ("several nodes", several, one):
        pairs = []
        for n in sorted({r["gpus"] for r in rows}):
            known = more + [r for r in rows if r["gpus"] != n]
            x = fit_nonnegative([transformer_terms(r) for r in known], [r["iter_ms"] for r in known])
            own = [(sum(u * v for u, v in zip(x, transformer_terms(r))), r["iter_ms"]) for r in rows if r["gpus"] == n]
            line(f"{title}, {n:.0f} GPUs", own)
            pairs += own
        line(f"{title}, all", pairs)


def main():
    build, data = sys.argv[1], sys.argv[2]
    print("load", open("/proc/loadavg").read().split()[:3], "error: geometric mean of the factors, less 1")
    orch = Orch(build)
    if subprocess.run(["sh", "-c", "command -v mpirun && command -v smpirun"], capture_output=True).returncode:
        print("\nthis machine: skipped, it needs mpirun (openmpi-bin) and smpirun (libsimgrid-dev)")
    else:
        measured, found = part_all_reduce(orch)
        if found:
            part_step(orch, found)
    part_nccl(data)
    part_transformers(data)


main()
