#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Digest v1 of every run of a store, computed from docs/store.md alone and compared with the recorded
one. Usage: digest_v1.py STORE [EXPECTED_RUNS]; exit 1 when one differs."""
import hashlib
import math
import sqlite3
import struct
import sys


def integer(value):
    return struct.pack("<q", value or 0)


def real(value):
    if value is None or math.isnan(value):
        return bytes.fromhex("000000000000f87f")
    return struct.pack("<d", value + 0.0 if value != 0 else 0.0)


def text(value):
    if value is None:
        return integer(-1)
    data = value.encode()
    return integer(len(data)) + data


ENCODE = {"t": text, "i": integer, "r": real, "e": lambda v: integer(-1 if v is None else v)}

HEAD = """SELECT r.key, r.recipe_key, r.recipe, r.experiment, r.plugin, r.plugin_version, r.build,
 s.tree, s.commit_oid, s.branch, s.remote, s.dirty, r.fingerprint, r.device_key, r.seed, r.repeat,
 r.attempt, r.state, r.reason, r.exit_code, r.signal, m.key, m.facts, r.who, r.argv, r.started,
 r.ended, r.wall_ms, r.facts
 FROM run r LEFT JOIN source s ON s.id = r.source LEFT JOIN machine m ON m.id = r.machine
 WHERE r.id = ?"""
HEAD_TYPES = "ttttttt" "ttttitt" "iii" "tteitttt" "iirt"

SECTIONS = (
    ("SELECT name, type, value FROM param WHERE run = ?", "ttt"),
    ("SELECT name, from_key, sha256 FROM input WHERE run = ?", "ttt"),
    ("SELECT name, unit, better, value FROM result WHERE run = ?", "tttr"),
    ("SELECT name, sha256, bytes FROM artifact WHERE run = ?", "tti"),
)


def fields(row, types):
    assert len(row) == len(types)
    return b"".join(ENCODE[t](v) for t, v in zip(types, row))


def digest(db, run):
    out = text("orch run") + integer(1)
    out += fields(db.execute(HEAD, (run,)).fetchone(), HEAD_TYPES)
    for sql, types in SECTIONS:
        rows = sorted(db.execute(sql, (run,)), key=lambda row: row[0].encode())
        out += integer(len(rows)) + b"".join(fields(row, types) for row in rows)
    names = db.execute("""SELECT id, name, unit, better FROM metric_name
        WHERE id IN (SELECT name_id FROM metric WHERE run = ?)""", (run,)).fetchall()
    names.sort(key=lambda row: row[1].encode())
    out += integer(len(names))
    for number, *name in names:
        points = db.execute("""SELECT step, t_ms, value FROM metric
            WHERE run = ? AND name_id = ?""", (run, number)).fetchall()
        points.sort()
        data = b"".join(fields(point, "irr") for point in points)
        out += fields(name, "ttt") + integer(len(points)) + hashlib.sha256(data).digest()
    return hashlib.sha256(out).hexdigest()


def main():
    db = sqlite3.connect("file:%s?mode=ro&immutable=1" % sys.argv[1], uri=True)
    runs = db.execute("SELECT id, key, digest FROM run ORDER BY key").fetchall()
    bad = 0
    for number, key, recorded in runs:
        computed = digest(db, number)
        print(key, computed, "ok" if computed == recorded else "DIFFERS from " + recorded)
        bad += computed != recorded
    if len(sys.argv) > 2 and len(runs) != int(sys.argv[2]):
        print("expected %s runs, found %d" % (sys.argv[2], len(runs)))
        bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
