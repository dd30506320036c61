#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whole transformers (NeuSight's, fp32) on chips that the constants of matrix products were not fitted to: each chip left out of that fit, and
chips from those of earlier years. The constants are fitted by bench/distil_kernels.py, written into lib/steptime/kernel_times.c of TREE, and built.
TREE is a copy of the repository with a build in TREE/build; its file is as before when this ends.

usage: /usr/bin/python3 bench/transformer_left_out.py TREE DATA
"""
import importlib
import os
import re
import subprocess
import sys

import numpy

tree, data = sys.argv[1:3]
path = f"{tree}/lib/steptime/kernel_times.c"
before = open(path).read()
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.argv = ["", data]
products = importlib.import_module("distil_kernels")
sys.argv = ["", f"{tree}/build", data]
steps = importlib.import_module("transformer_steps")
EARLIER = ((("P4", "P100"), ("V100",)), (("P4", "P100", "V100"), ("A100", "MI100")), (("P4", "P100", "V100", "MI100"), ("A100", "MI210")))


def build(constants):
    text = before
    for name, value in zip(products.CONSTANTS, constants):
        text = re.sub(rf"(#define {name}) +[\d.e-]+", rf"\1 {value:.6g}", text)
    open(path, "w").write(text)
    subprocess.run(["cmake", "--build", f"{tree}/build", "--target", "orch"], check=True, stdout=subprocess.DEVNULL)


def judge(title, chips):
    rows = [(chip, e) for chip, _, e, _ in steps.neusight() if chip in chips]
    errors = []
    for chip in chips:
        e = numpy.array([x for c, x in rows if c == chip])
        errors.append(100 * numpy.abs(numpy.expm1(e)).mean())
        print(f"{title:32} {chip:6} {len(e):3} rows  mean error {errors[-1]:4.1f} %  offset {numpy.median(e):+.2f}", flush=True)
    return errors


sys.argv = ["", data]
rows = products.read("neusight_gemm")
known = sorted({products.chip(r["gpu"]) for r in rows})
try:
    errors = []
    for left in known:
        build(products.fit([r for r in rows if products.chip(r["gpu"]) != left]))
        errors += judge("left out", [left])
    print(f"mean over the chips left out: {numpy.mean(errors):.1f} %")
    for seen, asked in EARLIER:
        build(products.fit([r for r in rows if products.chip(r["gpu"]) in seen]))
        judge("from " + ", ".join(seen), asked)
finally:
    open(path, "w").write(before)
