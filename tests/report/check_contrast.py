#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Contrast of the page's colours in each scheme, by WCAG 2: check_contrast.py FILE.html.

Every text colour against each ground that it stands on is at least 4.5 : 1.
"""
import re
import sys

PAIRS = [("text", "ground"), ("text", "box"), ("quiet", "ground"), ("quiet", "box"), ("link", "ground"),
         ("good", "good-ground"), ("warn", "warn-ground"), ("own", "own-ground")]


def luminance(color):
    color = color if len(color) == 6 else "".join(c * 2 for c in color)
    parts = [int(color[i:i + 2], 16) / 255 for i in (0, 2, 4)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def main():
    text = open(sys.argv[1], encoding="utf-8").read()
    schemes = re.findall(r":root\{(color-scheme:[^}]*|--[^}]*)\}", text)
    assert len(schemes) == 3, f"{len(schemes)} schemes, expected light, dark and print"
    for scheme in schemes:
        colors = dict(re.findall(r"--([a-z-]+):#([0-9a-f]{3,6})", scheme))
        for front, back in PAIRS:
            a, b = sorted((luminance(colors[front]), luminance(colors[back])), reverse=True)
            ratio = (a + 0.05) / (b + 0.05)
            assert ratio >= 4.5, f"--{front} on --{back}: {ratio:.2f}"


main()
