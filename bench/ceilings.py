#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Holds the ceilings that `orch doctor --bench --json` measured on a GPU against the nominal ones of `orch gpu show GPU --json`.

usage: ceilings.py DOCTOR.json NOMINAL.json [--dry-run]

Prints a table. Exit status 1 when nothing was measured on a GPU, or when a rate is above the nominal one by more than 3 % (clocks above
the boost clock of the table) or below a third of it; fp64 may be twice the nominal one, which is that without tensor cores. --dry-run,
for a machine without a GPU: 0.
"""
import json
import sys

ABOVE, BELOW = 1.03, 1 / 3
NOMINAL = {("product", "fp32"): ("peak fp32", 1e12), ("product", "fp64"): ("peak fp64", 1e12), ("product", "tf32"): ("peak tf32", 1e12),
           ("product", "fp16"): ("peak fp16 (tensor cores)", 1e12), ("product", "bf16"): ("peak bf16 (tensor cores)", 1e12),
           ("memory", "copy"): ("memory bandwidth", 1e9)}


def main():
    doctor, nominal = (json.load(open(path)) for path in sys.argv[1:3])
    dry_run = "--dry-run" in sys.argv[3:]
    facts = {f["what"]: f["value"] for f in nominal.get("facts", [])}
    bad = measured = 0
    print(f"{'what':12} {'how':12} {'measured':>14} {'spread':>8} {'nominal':>14} {'share':>7}  with")
    for row in doctor["ceilings"]["rows"]:
        if row["device"] == "cpu":
            continue
        if "skipped" in row:
            print(f"{row['what']:12} {row['how']:12} {'skipped':>14}  {row['skipped']}")
            continue
        measured += 1
        name, unit = NOMINAL.get((row["what"], row["how"]), (None, 1))
        value = facts.get(name)
        share = row["best"] / (value * unit) if isinstance(value, (int, float)) and value else None
        wrong = share is not None and not BELOW <= share <= ABOVE * (2 if row["how"] == "fp64" else 1)
        bad += wrong
        print(f"{row['what']:12} {row['how']:12} {row['best']:14.5g} {100 * row['spread']:7.1f}% "
              f"{value * unit if share else float('nan'):14.5g} {f'{100 * share:.1f}%' if share else '-':>7}  {row['with']}"
              f"{'  <-- not plausible' if wrong else ''}")
    return 0 if dry_run else int(bad > 0 or measured == 0)


sys.exit(main())
