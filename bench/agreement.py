#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Agreement of simulated and computed all-reduces and training steps with measured ones.

bench/agreement.sh [BUILD] [DATA] calls it. Three tables of relative errors, each of what was left out of the calibration.
1. This machine, 2 workers. Calibrated on all-reduces of 1, 2, 4, 8 ... KiB, of the same algorithm or of recursive doubling
   alone: between two neighbouring sizes time is a straight line, which is a latency and a bandwidth; where MPI changes from eager messages to
   the rendezvous protocol and from where its buffers are new pages in each call, each side goes on with the line of its own. Judged: the sizes between, 1.5, 3, 6 ... KiB. A time is
   the shortest of up to 5,000 in 0.3 s in each of ROUNDS trials, which other programs disturb least.
2. This machine, a training step of 2 workers: computing from trainings of one worker with the same batch a worker, two of them at
   once because two cores share caches and memory; the link from part 1. Judged: the time of the step and of its communication, the
   shortest of ROUNDS trainings.
3. Published NCCL all-reduces (DATA/nccl_allreduce.csv): c + 2(n-1) a + 2(n-1)/n S/(R B) + S/C, fitted to all other GPU counts.
   R: rings of NVLinks that the GPUs can form at the same time, from the published links of the machine (1 on a switch); S/C:
   each GPU copies the whole array once, however many there are. Judged: each GPU count, left out whole.
4. Published iterations of GPT-like transformers with tensor, data and pipeline parallelism (DATA/vtrain_*.csv): a non-negative
   sum of transformer_terms(), fitted to all other GPU counts, each of which weighs the same, plus the time between nodes by
   their published bandwidth; for several nodes with the rows of one node as well. Judged: each GPU count."""
import csv, itertools, json, math, os, re, subprocess, sys, tempfile

KIB = 1024
ROUNDS = 5
VOCABULARY = 51200  # GPT-2's, padded
NODE_BYTES_PER_MS = 100e9 / 1e3  # 800 Gbit/s of a node with 8 A100 (DATA/vtrain_multi.md)
# NVLinks between the GPUs of a DGX-1V, the hybrid cube mesh of DATA/nccl_allreduce.md ('nvidia-smi topo -m')
CUBE_MESH = [[0, 1, 1, 2, 2, 0, 0, 0], [1, 0, 2, 1, 0, 2, 0, 0], [1, 2, 0, 2, 0, 0, 1, 0], [2, 1, 2, 0, 0, 0, 0, 1],
             [2, 0, 0, 0, 0, 1, 1, 2], [0, 2, 0, 0, 1, 0, 2, 1], [0, 0, 1, 0, 1, 2, 0, 2], [0, 0, 0, 1, 2, 1, 2, 0]]
EVEN = [KIB << i for i in range(19)]  # calibration: 1 KiB to 256 MiB
ODD = [size + size // 2 for size in EVEN[:-1]]  # judged: 1.5 KiB to 192 MiB
ALGORITHMS = ["recursive_doubling", "ring", "reduce_broadcast", "rabenseifner"]
# of 2 workers: messages after one another, and how often all bytes cross the link
MESSAGE = {"recursive_doubling": 1, "ring": 0.5, "reduce_broadcast": 1, "rabenseifner": 0.5}  # largest message, as a share of all bytes
SCRATCH = {"recursive_doubling": 1, "ring": 0.5, "reduce_broadcast": 1, "rabenseifner": 1}  # largest buffer that Open MPI allocates in a call, likewise
FRESH_PAGES = 32 << 20  # bytes from which malloc of the GNU C library takes new pages from the kernel each time (DEFAULT_MMAP_THRESHOLD_MAX)
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
        self.program, self.folder = os.path.join(os.path.abspath(build), "orch"), tempfile.mkdtemp()

    def call(self, *words):
        return subprocess.run([self.program, *words], cwd=self.folder, capture_output=True, text=True)

    def run(self, name, experiments, *options):
        with open(os.path.join(self.folder, name + ".recipe"), "w") as out:
            out.write(f"format: 1\nrecipe: {name}\nexperiments:\n" + "".join(f"  {k}: {{ {v} }}\n" for k, v in experiments.items()))
        done = self.call("run", name + ".recipe", "-q", "--db", name + ".db", *options)
        if done.returncode:
            print(done.stderr.strip())
        return name + ".db"

    def rows(self, db, *words):
        return json.loads(self.call("export", "--db", db, "--format", "json", *words).stdout or "[]")


def measured_all_reduces(orch):
    """(algorithm, bytes) -> seconds, the shortest of all rounds."""
    sizes = ", ".join(str(size) for size in sorted(EVEN + ODD))
    db = orch.run("measured", {"m": "plugin: allreduce, resources: { exclusive: true }, with: { workers: 2, repeats: 5000, time_limit: 300ms, "
                                    f"bytes: [{sizes}] }}, sweep: {{ algorithm: [{', '.join(ALGORITHMS)}] }}, repeat: {ROUNDS}"})
    times = {}
    for p in orch.rows(db, "--what", "points", "-m", "min_time", "-c", "key,algorithm"):
        key = p.get("param.algorithm", p.get("algorithm")), int(p["step"])
        times[key] = min(times.get(key, math.inf), float(p["value"]))
    return times


def eager_limit():
    """Bytes up to which Open MPI sends a message within a machine at once, without asking the receiver: messages below it are eager."""
    text = subprocess.run(["ompi_info", "--param", "btl", "vader", "--level", "9", "--parsable"], capture_output=True, text=True).stdout
    found = re.search(r"btl_vader_eager_limit:value:(\d+)", text)
    return int(found.group(1)) if found else 4 * KIB


def lines(measured, algorithm):
    """Straight lines between neighbouring sizes of one algorithm: [(upper bytes, time at 0 bytes, seconds per byte)]."""
    times = [measured[algorithm, size] for size in EVEN]

    def straight(i):
        slope = max((times[i + 1] - times[i]) / (EVEN[i + 1] - EVEN[i]), 1e-15)
        return times[i] - slope * EVEN[i], slope
    found, changes = [], (eager_limit() / MESSAGE[algorithm], FRESH_PAGES / SCRATCH[algorithm])
    for i in range(len(EVEN) - 1):
        change = next((size for size in changes if 0 < i < len(EVEN) - 2 and EVEN[i] < size <= EVEN[i + 1]), None)
        found += [(change - 1, *straight(i - 1)), (EVEN[i + 1], *straight(i + 1))] if change else [(EVEN[i + 1], *straight(i))]
    return found


def link(found, calibrated, algorithm, size):
    """Latency and bandwidth of the link with which the calibrated algorithm, with messages of the length that the other one sends for size bytes, takes
    the line's time. Where the line would be below 0 at 0 bytes (it becomes steeper where caches end), the latency is that of the smallest size."""
    messages, volume = COSTS[calibrated]
    size *= MESSAGE[algorithm] / MESSAGE[calibrated]
    start, slope = next((start, slope) for upper, start, slope in found if size <= upper)
    a = start if start > 0 else max(found[0][1], 1e-9)
    return a / messages, volume * size / max(start + slope * size - a, 1e-12)


def formula(algorithm, found, size):
    (messages, volume), (a, b) = COSTS[algorithm], link(*found, algorithm, size)
    return messages * a + volume * size / b


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
    own = {g: (lines(measured, g), g) for g in ALGORITHMS}
    one = own["recursive_doubling"]
    for title, found in (("on the same algorithm", own), ("on recursive doubling alone", {g: one for g in ALGORITHMS})):
        times = simulated(orch, "own" if found is own else "one", [(g, s, *link(*found[g], g, s)) for g in ALGORITHMS for s in ODD])
        head(f"all-reduce of 2 workers on this machine, 1.5 KiB to 192 MiB, calibrated {title}")
        for g in ALGORITHMS:
            line(f"{g}: SimGrid", [(times[g, s], measured[g, s]) for s in ODD if (g, s) in times])
            line(f"{g}: formula", [(formula(g, found[g], s), measured[g, s]) for s in ODD])
            if g in PALEO:
                line(f"{g}: PALEO (bandwidth alone)", [(PALEO[g] * s / link(*found[g], g, EVEN[-1])[1], measured[g, s]) for s in ODD])
        line("all: SimGrid", [(times[k], measured[k]) for k in times])
    return measured, own["ring"]


def trainings(orch):
    """The training with the shortest step of each kind: alone, one of two at once, two workers."""
    common = 'dataset: synthetic, image_size: 32, net: "resnet-cifar:8", per_class: 96, val_images: 10, full_validation: false, epochs: 3, lr: 0.05, threads: 1'
    alone = f"plugin: scaling, with: {{ {common}, workers: 1, batch: 32, scaling: weak }}"
    best = {}
    for kind, text, jobs in (("alone", alone + ", resources: { exclusive: true }", 1), ("beside", alone + ", resources: { cores: 1 }", 2),
                             ("two", f"plugin: scaling, resources: {{ exclusive: true }}, with: {{ {common}, workers: 2, batch: 32, scaling: weak, algorithm: ring }}", 1)):
        rows = orch.rows(orch.run(kind, {kind: f"{text}, repeat: {ROUNDS + ROUNDS % jobs}"}, "-j", str(jobs)))
        rows = [r for r in rows if r.get("result.step_time")]
        if rows:
            best[kind] = min(rows, key=lambda r: r["result.step_time"])
    return best


def part_step(orch, found):
    best = trainings(orch)
    if len(best) < 3:
        print("\ntraining step on this machine: skipped, no training was measured")
        return
    two = best["two"]
    a, b = link(*found, "ring", int(two["result.parameter_bytes"]))
    experiments = {kind: f'plugin: simcluster, with: {{ workers: 2, net: "resnet-cifar:8", input: 3x32x32, batch: 32, scaling: weak, algorithm: ring, '
                         f'step_time: {best[kind]["result.compute_time"]:.9f}, latency: {a * 1e6:.6f}, bandwidth: {b / 1e9:.9f} }}' for kind in ("alone", "beside")}
    simulated_steps = {r["experiment"]: r for r in orch.rows(orch.run("step", experiments)) if r.get("result.step_time")}
    if len(simulated_steps) < 2:
        print("\ntraining step on this machine: skipped, nothing was simulated")
        return
    head("step of 2 workers on this machine, ResNet-8, 32 images a worker")
    for kind, title in ("beside", "computing of two trainings at once"), ("alone", "computing of one training alone"):
        line(f"step: SimGrid, {title}", [(simulated_steps[kind]["result.step_time"], two["result.step_time"] - two["result.data_time"])])
    line("step: computing alone, without communication", [(best["beside"]["result.compute_time"], two["result.step_time"] - two["result.data_time"])])
    line("communication: SimGrid", [(simulated_steps["beside"]["result.communication_time"], two["result.communication_time"])])
    print("  computing of a step: " + ", ".join(f"{1e3 * best[kind]['result.compute_time']:.2f} ms {words}" for kind, words in (
        ("alone", "alone"), ("beside", "of two trainings at once"), ("two", "with two workers"))))


def rings_of(links, n):
    """How many rings, each through all of GPUs 0 to n-1, use no link of links[a][b] twice in one direction."""
    cycles = [list(zip((0, *p), (*p, 0))) for p in itertools.permutations(range(1, n))]
    cycles = [c for c in cycles if all(links[a][b] for a, b in c)]
    free, most = {(a, b): links[a][b] for a in range(n) for b in range(n)}, min(sum(row[:n]) for row in links[:n])

    def search(first, count):
        best = count
        for k in range(first, len(cycles)):
            if best < most and all(free[edge] for edge in cycles[k]):
                for edge in cycles[k]:
                    free[edge] -= 1
                best = max(best, search(k, count + 1))
                for edge in cycles[k]:
                    free[edge] += 1
        return best
    return search(0, 0)


def ring_terms(n, size, rings):
    return (1, 2 * (n - 1), 2 * (n - 1) / n * size / rings, size)


def fit_ring(rows):
    """Least squares of relative errors: the coefficients of ring_terms, none below 0. rows: (terms, seconds)."""
    return fit_nonnegative([terms for terms, _ in rows], [t for _, t in rows])


def part_nccl(data):
    path = os.path.join(data, "nccl_allreduce.csv")
    if not os.path.exists(path):
        print(f"\nNCCL's published all-reduces: skipped, there is no {path}")
        return
    rows = [(r["gpu"], int(r["gpus"]), int(r["bytes"]), float(r["us_out_of_place"]) * 1e-6) for r in csv.DictReader(open(path))]
    head("NCCL all-reduces within a node, 1 MiB to 1 GiB, each GPU count left out whole")
    for gpu in sorted({r[0] for r in rows}):
        pairs, counts = [], sorted({r[1] for r in rows if r[0] == gpu})
        rings = {n: rings_of(CUBE_MESH, n) if gpu == "V100" else 1 for n in counts}
        terms = [(n, ring_terms(n, size, rings[n]), t) for g, n, size, t in rows if g == gpu]
        for n in counts:
            x = fit_ring([row[1:] for row in terms if row[0] != n])
            own = [(sum(u * v for u, v in zip(x, row)), t) for m, row, t in terms if m == n]
            line(f"{gpu}, {n} GPUs: ring" + (f", {rings[n]} at once" if gpu == "V100" else ""), own)
            pairs += own
        line(f"{gpu}, all: ring", pairs)


def transformer_terms(r):
    """What an iteration's milliseconds are a sum of (Narayanan et al. 2021, section 3: operations with recomputation, 1F1B pipeline, tensor-parallel
    all-reduces of each layer), all for one GPU. r: a row of vtrain_*.csv as numbers."""
    b, s, h, t, d, p = (r[name] for name in ("micro_batch", "seq", "hidden", "tensor", "data", "pipeline"))
    slots = r["global_batch"] / (b * d) + p - 1  # micro-batches that fit one after the other, the pipeline's filling included
    layers, tokens, weights = slots * r["layers"] / p, b * s, stage_weights(r)
    reduced, shared = 2 * (d - 1) / d * weights, layers * 2 * (t - 1) / t * tokens * h
    return [layers * 96 * tokens * h * h * (1 + s / (6 * h)) / t,  # operations of the layers
            slots * 6 * tokens * h * VOCABULARY / t,               # of the last layer
            layers, layers * tokens * h / t, layers * tokens * h, layers * tokens * s * r["heads"] / t,  # launches, memory traffic
            layers * (t > 1), shared,                              # tensor-parallel all-reduces in a node
            slots * tokens * h * (p > 1),                          # between stages of the pipeline
            reduced * (r["gpus"] <= 8),                            # data-parallel all-reduce in a node
            weights, 1.0]                                          # update; what is left


def stage_weights(r):
    """Weights of one GPU."""
    return (12 * r["hidden"] ** 2 * r["layers"] / r["pipeline"] + VOCABULARY * r["hidden"]) / r["tensor"]


def between_nodes_ms(r):
    """Ring all-reduces in fp16 between nodes of 8 GPUs, which share the node's bandwidth: six of a layer's activations (two in each of forward,
    recomputation and backward) where tensor parallelism crosses nodes, and those of the gradients where data parallelism does."""
    t, d, tokens = r["tensor"], r["data"], r["micro_batch"] * r["seq"]
    layers = (r["global_batch"] / (r["micro_batch"] * d) + r["pipeline"] - 1) * r["layers"] / r["pipeline"]
    activations = 6 * layers * tokens * r["hidden"] * 2 * (t - 1) / t * (t > 8)
    gradients = min(t, 8) * stage_weights(r) * 2 * (d - 1) / d * (d * min(t, 8) > 8)
    return 2 * (activations + gradients) / NODE_BYTES_PER_MS if r["gpus"] > 8 else 0.0


def fit_nonnegative(terms, times, known=None, weights=None):
    """Coefficients >= 0 that minimise the squared relative errors, times their weights, of known + sum of coefficients x terms: coordinate descent on
    the normal equations."""
    known, weights = known or [0.0] * len(times), [math.sqrt(w) for w in weights or [1.0] * len(times)]
    rows = [[value / t * w for value in row] for row, t, w in zip(terms, times, weights)]
    left = [(1 - k / t) * w for k, t, w in zip(known, times, weights)]
    n = range(len(rows[0]))
    scale = [math.sqrt(sum(r[i] ** 2 for r in rows)) or 1 for i in n]
    a = [[sum(r[i] * r[j] for r in rows) / scale[i] / scale[j] for j in n] for i in n]
    b = [sum(r[i] * y for r, y in zip(rows, left)) / scale[i] for i in n]
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
            seen = more + [r for r in rows if r["gpus"] != n]
            alike = {count: sum(r["gpus"] == count for r in seen) for count in {r["gpus"] for r in seen}}
            x = fit_nonnegative([transformer_terms(r) for r in seen], [r["iter_ms"] for r in seen],
                                [between_nodes_ms(r) for r in seen], [1 / alike[r["gpus"]] for r in seen])
            own = [(between_nodes_ms(r) + sum(u * v for u, v in zip(x, transformer_terms(r))), r["iter_ms"]) for r in rows if r["gpus"] == n]
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


if __name__ == "__main__":
    main()
