#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Cuts a table of measurements in two, for orch predictor eval: 15 % of the rows by a hash of the row, or all
rows with one value of a column (a GPU or network that is never seen).

usage: split.py TABLE.csv TRAIN.csv TEST.csv [COLUMN=VALUE]
"""
import csv
import hashlib
import sys

table, train, test = sys.argv[1:4]
held = sys.argv[4].split("=", 1) if len(sys.argv) > 4 else None
with open(table) as source, open(train, "w") as a, open(test, "w") as b:
    rows = csv.reader(source)
    header = next(rows)
    writers = csv.writer(a), csv.writer(b)
    for writer in writers:
        writer.writerow(header)
    for row in rows:
        if held:
            aside = row[header.index(held[0])] == held[1]
        else:
            aside = int(hashlib.md5(",".join(row).encode()).hexdigest(), 16) % 100 < 15
        writers[aside].writerow(row)
