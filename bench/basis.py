#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes share/measured/steps.csv, the published steps that forecasts are compared with: facts of public benchmarks, each with
its source (share/measured/sources.csv). Taken are the networks of the zoo on the GPUs of the table, of a series of batches the smallest, the median
and the largest. Left out are trainings that were tuned for a competition (MLPerf, DAWNBench), compiled ones, channels-last layout,
DataParallel, kernels without cuDNN, images read from files, software from before the GPU, and justus_vgg16, whose steps of small batches are
TensorFlow 1's copies. bench/basis_left_out.py judges the forecasts that use the table.

usage: /usr/bin/python3 bench/basis.py BUILD DATA >share/measured/steps.csv
(DATA: a folder with timm_train.csv and the others below)
"""
import collections
import csv
import functools
import json
import os
import re
import statistics
import subprocess
import sys

build, data = sys.argv[1:3]
COLUMNS = ["source", "gpu", "net", "input", "mode", "precision", "batch", "workers", "step_ms", "software", "date"]
NETS = {"inception_v1": "googlenet", "alexnet_owt": "alexnet-owt", "vgg_a": "vgg11", "inception3": "inception_v3",
        "vit_base_patch16_224": "vit_b_16", "vit_base_patch32_224": "vit_b_32", "vit_large_patch16_224": "vit_l_16",
        "vit_large_patch32_224": "vit_l_32", "vit_huge_patch14_224": "vit_h_14", "vit_small_patch16_224": "vit_s_16",
        "vit_tiny_patch16_224": "vit_ti_16", "wide_resnet50_2": "wide_resnet50_2", "mobilenetv2_100": "mobilenet_v2",
        "resnet50_v1": "resnet50-v1", "bert": "bert-base-mlm"}
TORCH = {"0.3.0": "2017-12", "1.0.0": "2018-12", "1.10": "2021-10", "1.11": "2022-03", "1.12": "2022-06", "1.13": "2022-10", "2.1": "2023-10",
         "2.4": "2024-07", "2.9.1": "2025-11"}
TENSORFLOW = {"1.4.0": "2017-11", "1.5.0": "2018-01", "1.12.0": "2018-11"}
CUDNN = {"4007": "2016-02", "5005": "2016-05", "5105": "2016-08", "5110": "2017-02"}
rows = collections.defaultdict(lambda: collections.defaultdict(list))


def orch(*words):
    out = subprocess.run([f"{build}/orch", *words, "--json"], capture_output=True, text=True)
    return json.loads(out.stdout) if out.returncode == 0 else None


@functools.lru_cache(None)
def gpu_of(name):
    """(the name in the table of GPUs, its year) or None"""
    shown = orch("gpu", "show", name)
    facts = {f["what"]: f["value"] for f in shown["facts"]} if shown else {}
    return facts and (facts["gpu"], str(facts["year"]))


@functools.lru_cache(None)
def is_known(net, size):
    return orch("net", "show", net, "--input", size) is not None


def read(name):
    with open(os.path.join(data, name + ".csv")) as file:
        return list(csv.DictReader(file))


def add(source, gpu, net, side, mode, precision, batch, workers, ms, software, date):
    net, size = NETS.get(net, net), side if "x" in str(side) else f"3x{side}x{side}"
    batch = int(float(batch or 0))
    if batch and gpu_of(gpu) and is_known(net, size) and date[:4] >= gpu_of(gpu)[1]:
        rows[source, gpu_of(gpu)[0], net, size, mode, precision, int(workers), software, date][batch].append(float(ms))


def torchvision():
    for r in read("ryujaehun_pytorch"):
        if r["gpus"] == "1":
            add("ryujaehun", r["gpu"], r["net"], 224, r["mode"], {"float": "fp32", "half": "fp16", "double": "fp64"}[r["precision"]], r["batch_total"], 1,
                r["ms_median"], "PyTorch, newer run, published" if "(2)" in r["folder"] else "PyTorch, published", "2021-01")
    for name in ("train", "infer"):
        for r in read("timm_" + name):
            version = ".".join([r["torch"][0], r["torch"][1:]] if r["torch"][0] == "1" else r["torch"].rstrip("d"))
            version = version[:-2] if version.startswith("2.") and version.endswith(".0") else version
            if not r["torch"].endswith("d") and r["prec"] == "amp" and r["layout"] == "nchw":
                add("timm", r["gpu"], r["net"], r["img"], name, "fp16", r["batch"], 1, r["step_ms"], f"PyTorch {version}", TORCH[version])


def older():
    for r in read("jcjohnson_cnn"):
        if r["cudnn"] in CUDNN:
            for mode, ms in (("train", r["total_ms"]), ("infer", r["fw_ms"])):
                add("jcjohnson", r["gpu"], r["net"], int(float(r["img"])), mode, "fp32", r["batch"], 1, ms, "Torch7, cuDNN " + r["cudnn"][0] + "." + r["cudnn"][1],
                    CUDNN[r["cudnn"]])
    for r in read("soumith_convnet"):
        if "CuDNN" in r["library"]:
            add("soumith", r["gpu"], r["net"], int(float(r["img"])), "train", "fp" + r["bits"], r["batch"], 1, r["total_ms"],
                "Torch7, cuDNN " + re.search(r"R(\d)", r["library"])[1], "2016-01")
    for r in read("u39kun_frameworks"):
        kind, version = r["framework"].split()
        if kind != "Caffe2" and "CPU" not in r["gpu"]:
            date = (TORCH if kind == "PyTorch" else TENSORFLOW)[version]
            add("u39kun", r["gpu"], r["net"], int(float(r["img"])), {"eval": "infer"}.get(r["mode"], r["mode"]), "fp" + r["bits"], r["batch"], 1, r["ms"],
                r["framework"].replace("Tensorflow", "TensorFlow"), date)
    for r in read("tf_benchmarks"):
        if r["data"] == "synthetic" and int(r["gpus"]) <= 8 and r["platform"] != "ec2-distributed":
            # the best of each platform's ways to exchange gradients is its published figure
            net = {"resnet50": "resnet50-v1", "resnet152": "resnet152-v1"}.get(r["net"], r["net"])
            add("tf_benchmarks", r["gpu"], net, 299 if "inception" in net else 224, "train", "fp32", r["batch_per_gpu"], r["gpus"], r["step_ms"],
                f"TensorFlow 1.1, {r['platform']}, {r['variable_update']}", "2017-05")


def newer():
    for r in read("lambda_train"):
        if r["task"] == "resnet50" and r["batch_per_gpu"]:
            batch, gpus = float(r["batch_per_gpu"]), int(r["gpus"])  # the batch of all GPUs, whatever the column is called
            add("lambda", r["gpu"], "resnet50", 224, "train", r["precision"], batch / gpus, gpus, 1e3 * batch / float(r["throughput"]),
                "PyTorch, NVIDIA's container, published", "2025-12")
    precisions = {"fp32": "fp32-ieee", "tf32": "fp32", "fp16": "fp16", "tf32-fp16": "fp16"}
    for r in read("milabench"):
        name, _, way = r["task"].partition("-")
        if r["task"] == "resnet50-noio" or way in precisions:
            add("milabench", r["gpu"], name, "1x512x1" if name == "bert" else 224, "train", precisions.get(way, "fp16"), r["batch"], 1, 1e3 * float(r["batch"]) / float(r["items_per_s"]),
                "PyTorch 2, published", "2025-04")


torchvision()
older()
newer()
writer = csv.writer(sys.stdout, lineterminator="\n")
writer.writerow(COLUMNS)
for key in sorted(rows):
    source, gpu, net, size, mode, precision, workers, software, date = key
    batches = sorted(rows[key])
    for batch in sorted({batches[0], batches[len(batches) // 2], batches[-1]}):
        writer.writerow([source, gpu, net, size, mode, precision, batch, workers, f"{statistics.median(rows[key][batch]):.5g}", software, date])
