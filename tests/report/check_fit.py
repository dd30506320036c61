#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""check_fit.py FILE.pdf: every word of a PDF lies on the page, inside of a margin of 20 points, and no page but the last is empty below
its first half. Words are those of pdftotext -bbox."""
import html
import re
import subprocess
import sys

text = subprocess.run(["pdftotext", "-bbox", sys.argv[1], "-"], check=True, capture_output=True, text=True).stdout
faults, words, ends = [], 0, []
for number, page in enumerate(re.split(r"<page ", text)[1:], 1):
    width, height = (float(re.search(rf'{name}="([\d.]+)"', page).group(1)) for name in ("width", "height"))
    low = 0.0
    for x0, y0, x1, y1, word in re.findall(r'<word xMin="([-\d.]+)" yMin="([-\d.]+)" xMax="([-\d.]+)" yMax="([-\d.]+)">(.*?)</word>', page):
        words += 1
        if float(x0) < 20 or float(x1) > width - 20 or float(y0) < 0 or float(y1) > height:
            faults.append(f"page {number}: '{html.unescape(word)}' from {x0} to {x1} of {width}")
        if float(y1) < 0.93 * height:  # above the page's number
            low = max(low, float(y1))
    ends.append(low / height)
assert words > 100, f"{words} words"
print(f"{len(ends)} pages, {words} words; lowest word at", " ".join(f"{e:.2f}" for e in ends))
for fault in faults[:10]:
    print(fault)
sys.exit(bool(faults))
