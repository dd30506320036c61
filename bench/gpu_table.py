#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of bench/gpu.sh, from the files that its stages wrote: prints it, and writes it into a page in place of an earlier
section of the same GPU.

usage: python3 bench/gpu_table.py RESULTS --gpu NAME [--command TEXT] [--failed TEXT] [--docs FILE]
"""
import argparse
import datetime
import json
import os
import re
import statistics

p = argparse.ArgumentParser()
p.add_argument("results")
p.add_argument("--gpu", required=True)
p.add_argument("--command", default="bench/gpu.sh")
p.add_argument("--failed", default="")
p.add_argument("--docs")
args = p.parse_args()


def lines_of(name):
    path = os.path.join(args.results, name)
    return open(path).read().splitlines() if os.path.exists(path) else []


def rows_of(name):
    return [json.loads(line) for line in lines_of(name) if line.strip()]


def number(value):
    return "-" if value is None else f"{value:.0f}" if value >= 10 else f"{value:.2f}"


def ratio(a, b):
    return f"{a / b:.2f}" if a and b else "-"


def rates_section():
    rows = rows_of("rates.jsonl")
    if not rows:
        return []
    names = list(dict.fromkeys(row["who"] for row in rows))
    peers = [name for name in names if not name.startswith("orch")]
    forecasts = {(r["net"], r["precision"]): r for r in rows_of("predict.jsonl")}
    tasks = {}
    for row in rows:
        key = (row["net"], row["side"], row["batch"], row["augment"], row["precision"])
        tasks.setdefault(key, {})[row["who"]] = row
    head = ["training, batch", "transforms", "precision"] + [f"{name}, images/s" for name in names]
    head += [f"orch / {name}" for name in peers] + ["orch predict, images/s", "predicted / measured"]
    out = [line(head), line(["---"] * len(head))]
    for (net, side, batch, augment, precision), found in tasks.items():
        rate = {name: found.get(name, {}).get("images_per_s") for name in names}
        best = max((rate[name] for name in names if name.startswith("orch") and rate[name]), default=None)
        forecast = forecasts.get((net, precision), {})
        said, runs_as = forecast.get("images_per_s"), forecast.get("runs_as", precision)
        out.append(line([f"{net}, 3x{side}x{side}, {batch}", "crop 4, flip" if augment else "none", precision]
                        + [number(rate[name]) for name in names] + [ratio(best, rate[name]) for name in peers]
                        + [number(said) + (f" (as {runs_as})" if runs_as != precision else ""), ratio(said, best)]))
    out += ["", "Rates are medians of rounds in which the contestants took turns; ratios are of orch's best column."]
    if not any("graphs" in name and name.startswith("orch") for name in names):
        out.append("There is no column of orch with CUDA graphs, which need a GPU.")
    reasons = dict.fromkeys(f"{r['who']}, {r['precision']}: {r['failed']}" for r in rows if r["failed"])
    if reasons:
        out += ["", "Not measured (-):", ""] + [f"- {reason}" for reason in reasons]
    return out + [""]


def line(cells):
    return "| " + " | ".join(cells) + " |"


def vecadd_rows():
    """Rows (what, result) of stage 8: each kernel's bandwidth and its share of what the card copies, then managed memory against explicit."""
    path = os.path.join(args.results, "vecadd.json")
    runs = [r for r in json.load(open(path)) if r["state"] == "ok"] if os.path.exists(path) else []
    rows, kernels = [], {}
    for r in runs:
        get = lambda name: r.get(f"result.{name}")
        scenario, memory, count = r["param.scenario"], r["param.memory"], get("element_count")
        kernels[scenario, memory, count] = get("kernel_time")
        card = f", {get('nominal_share'):.2f} of the nominal" if get("nominal_share") else ""
        if get("ecc") is not None:
            clocks = "/".join(f"{get(n):.0f}" for n in ("sm_clock", "memory_clock") if get(n))
            card += f" (ECC {'on' if get('ecc') else 'off'}" + (f", {clocks} MHz)" if clocks else ")")
        aim = "; the aim is 0.97" if scenario == "gpu_stride" and count >= 5e7 and memory == "pinned" else ""
        rows.append((f"vecadd, {count / 1e6:g} million, {scenario}, {memory}",
                     f"{get('kernel_time'):.4g} ms, {get('bandwidth'):.4g} GB/s, {get('bandwidth_share'):.3f} of the copy bandwidth of "
                     f"{get('measured_bandwidth'):.4g} GB/s{card}{aim}"))
    for (scenario, memory, count), time in kernels.items():
        explicit = kernels.get((scenario, "pinned", count))
        if memory == "managed_prefetch" and explicit:
            rows.append((f"vecadd, {count / 1e6:g} million, {scenario}: kernel with managed memory and prefetch over explicit copies",
                         f"{time / explicit:.3f}; the aim is at most 1.10"))
    return rows


def allreduce_rows():
    """Rows (what, result) of stage 9: bus bandwidth, 2 (n-1)/n x bytes / time, by size for each algorithm."""
    path = os.path.join(args.results, "allreduce.json")
    by_algorithm = {}
    for p in json.load(open(path)) if os.path.exists(path) else []:
        by_algorithm.setdefault((p["algorithm"], int(p["workers"])), []).append((int(p["step"]), float(p["value"])))
    return [(f"all-reduce, {algorithm}, {workers} workers: bus bandwidth, 2 (n-1)/n x bytes / time",
             ", ".join(f"{bytes / 1024:g} KiB {bandwidth:.4g} GB/s" for bytes, bandwidth in sorted(points)))
            for (algorithm, workers), points in sorted(by_algorithm.items())]


def other_section():
    found = []
    for text in lines_of("data_path.txt"):
        value, _, what = text.strip().partition(", " if "images/s" in text else ": ")
        found.append((f"data path, 3x32x32, crop 4, flip, cutout 16, batch 128: {what}", value))
    for text in lines_of("loader.txt"):
        threads, _, rates = re.sub(r"\s+", " ", text.strip()).partition(": ")
        found.append((f"data path, 32x32 images on the processor, {threads}", rates))
    busy = [float(x) for x in lines_of("utilisation.txt") if re.fullmatch(r"\s*[\d.]+\s*", x)]
    started = busy[next((i for i, x in enumerate(busy) if x > 0), 0):]  # before it the data are read
    if started:
        found.append(("GPU utilisation while resnet18-cifar trains in bf16, batch 128, crop and flip, sampled once a second",
                      f"median {statistics.median(started):.0f} %, {100 * sum(x > 95 for x in started) / len(started):.0f} % "
                      f"of {len(started)} samples above 95 %"))
    found += vecadd_rows() + allreduce_rows()
    summary = [x for x in lines_of("tests.txt") if "tests passed" in x]
    if summary:
        found.append(("tests that use a GPU", "; ".join(summary)))
    if not found:
        return []
    return [line(["what", "result"]), line(["---", "---"])] + [line(row) for row in found] + [""]


def torch_version():
    try:
        import importlib.metadata
        return importlib.metadata.version("torch")
    except importlib.metadata.PackageNotFoundError:
        return "of the system"


heading = f"## GPU: {args.gpu}"
section = [heading, "", f"`{args.command}` on {datetime.date.today():%Y-%m-%d}, PyTorch {torch_version()}.", ""]
section += rates_section() + other_section()
section += [f"Stages that failed: {args.failed}.", ""] if args.failed else []
text = "\n".join(section).rstrip() + "\n"
print(text, end="")
if args.docs:
    page = open(args.docs).read() if os.path.exists(args.docs) else ""
    pattern = re.compile(rf"^{re.escape(heading)}$.*?(?=^## |\Z)", re.M | re.S)
    if pattern.search(page):
        page = pattern.sub(lambda _: text + "\n", page).rstrip() + "\n"
    else:
        page = page.rstrip() + "\n\n" + text
    with open(args.docs, "w") as f:
        f.write(page.lstrip("\n"))
