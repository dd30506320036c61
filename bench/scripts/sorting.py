# SPDX-License-Identifier: GPL-3.0-or-later
"""Sorts random numbers. usage: sorting.py --n N --kind list|merge|insertion"""
import argparse
import random

p = argparse.ArgumentParser()
p.add_argument("--n", type=int, required=True)
p.add_argument("--kind", required=True)
a = p.parse_args()
random.seed(1)
values = [random.random() for _ in range(a.n)]


def merged(v):
    if len(v) < 2:
        return v
    left, right, out, i, j = merged(v[: len(v) // 2]), merged(v[len(v) // 2:]), [], 0, 0
    while i < len(left) and j < len(right):
        if left[i] <= right[j]:
            out.append(left[i])
            i += 1
        else:
            out.append(right[j])
            j += 1
    return out + left[i:] + right[j:]


def inserted(v):
    for i in range(1, len(v)):
        x, j = v[i], i
        while j and v[j - 1] > x:
            v[j] = v[j - 1]
            j -= 1
        v[j] = x
    return v


{"list": sorted, "merge": merged, "insertion": lambda v: [inserted(v[i:i + 200]) for i in range(0, len(v), 200)]}[a.kind](values)
print("done", 1)
