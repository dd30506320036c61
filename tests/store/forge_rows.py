#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Adds to a store runs of a hostile member: copies of its first run with numbers and texts that no honest run has, each
with the digest that its rows give, so that 'orch db merge' takes them unless a rule of its own refuses them.

    forge_rows.py STORE [NAME...]  runs whose values have the types of their columns
    forge_rows.py --loose STORE    also values of other types, NULL where the schema forbids it and texts that are not
                                   UTF-8, as an edited file can hold: for a store that is opened directly

NAMEs choose some of them. Prints the number of runs that were added."""
import json
import re
import sqlite3
import sys

from digest_v1 import digest

BIG = (1 << 63) - 1
TABLES = ("param", "input", "result", "artifact", "metric")
TEXTS = ("recipe_key", "recipe", "experiment", "plugin", "plugin_version", "build", "fingerprint", "device_key", "reason",
         "who", "argv", "facts")
DEEP = "[" * 25 + "]" * 25
FACTS = ("load", "co_runners", "max_rss_bytes", "max_pss_bytes", "notes", "left_out", "stderr_tail", "log_dropped_bytes",
         "unknown_events", "journal_bad_lines", "strays", "stray_count", "threads", "timed", "cost", "artifacts", "gpus")
MACHINE = ("hostname", "os", "gpus", "cpu_model", "cpus", "cores", "memory_bytes", "kernel", "device")


def every(names, value):
    return json.dumps({name: value for name in names})


def run_set(column, value):
    return [(f"UPDATE run SET {column} = ? WHERE id = :id", value)]


def points(name, rows, unit=""):
    """The points of a new metric of the run: rows of (step, t_ms, value)."""
    return [("INSERT OR IGNORE INTO metric_name(name, unit, better) VALUES(?, ?, 'max')", name, unit)] + [
        (f"INSERT OR REPLACE INTO metric SELECT :id, id, ?, ?, ? FROM metric_name WHERE name = '{name}' AND unit = '{unit}'",
         *row) for row in rows]


SOUND = {
    "no_wall": run_set("wall_ms", None),
    "huge_wall": run_set("wall_ms", 1.7e308),
    "negative_wall": run_set("wall_ms", -1.0),
    "endless_wall": run_set("wall_ms", 9e999),
    "beyond_status": run_set("exit_code", 99999),
    "tiny_wall": run_set("wall_ms", 5e-324),
    "zero_wall": run_set("wall_ms", 0.0),
    "last_times": [("UPDATE run SET started = ?, ended = ? WHERE id = :id", BIG, BIG)],
    "first_times": [("UPDATE run SET started = 0, ended = 0 WHERE id = :id",)],
    "turned_times": [("UPDATE run SET started = ?, ended = 0 WHERE id = :id", BIG)],
    "numbers": [("UPDATE run SET seed = ?, repeat = 2147483647, attempt = 2147483647, exit_code = -2147483648,"
                 " signal = 2147483647 WHERE id = :id", -BIG - 1)],
    "no_texts": [(f"UPDATE run SET {', '.join(t + ' = NULL' for t in TEXTS)}, source = NULL, machine = NULL WHERE id = :id",)],
    "empty_texts": [(f"UPDATE run SET {', '.join(t + ' = ' + chr(39) * 2 for t in TEXTS)} WHERE id = :id",)],
    "long_texts": [(f"UPDATE run SET {', '.join(t + ' = ?' for t in TEXTS)} WHERE id = :id", *["x" * 60000] * len(TEXTS))],
    "state": run_set("state", "zzz"),
    "facts_array": run_set("facts", "[1, 2]"),
    "facts_no_json": run_set("facts", "{"),
    "facts_deep": run_set("facts", every(FACTS, json.loads(DEEP))),
    "facts_huge": run_set("facts", every(FACTS, 1.7e308)),
    "facts_negative": run_set("facts", every(FACTS, -BIG)),
    "facts_texts": run_set("facts", every(FACTS, "nan")),
    "facts_null": run_set("facts", every(FACTS, None)),
    "facts_list": run_set("facts", every(FACTS, [["a", 1], 7, None, {"a": {}}])),
    "argv": run_set("argv", '{"a": 1}'),
    "machine_array": [("INSERT INTO machine(key, facts) VALUES('m1', '[]')",),
                      ("UPDATE run SET machine = last_insert_rowid() WHERE id = :id",)],
    "machine_numbers": [("INSERT INTO machine(key, facts) VALUES('m2', ?)", every(MACHINE, -1e300)),
                        ("UPDATE run SET machine = last_insert_rowid() WHERE id = :id",)],
    "machine_gpus": [("INSERT INTO machine(key, facts) VALUES('m3', ?)", json.dumps({"gpus": [{"model": "V100"}] * 20000})),
                     ("UPDATE run SET machine = last_insert_rowid() WHERE id = :id",)],
    "machine_empty": [("INSERT INTO machine(key, facts) VALUES('', '')",),
                      ("UPDATE run SET machine = last_insert_rowid() WHERE id = :id",)],
    "source": [("INSERT INTO source(tree, commit_oid, branch, dirty, remote) VALUES('--help', '-x', '..', 1, '-o x')",),
               ("UPDATE run SET source = last_insert_rowid() WHERE id = :id",)],
    "long_param": [("UPDATE param SET value = ? WHERE run = :id AND name = 'note'", json.dumps("x" * 300000))],
    "long_words": [("UPDATE param SET value = ? WHERE run = :id AND name = 'note'", json.dumps("x y " * 80000))],
    "inf_param": [("UPDATE param SET value = '1e400' WHERE run = :id AND name = 'lr'",)],
    "nan_param": [("UPDATE param SET value = '\"nan\"' WHERE run = :id AND name = 'lr'",)],
    "huge_param": [("UPDATE param SET value = '99999999999999999999999' WHERE run = :id AND name = 'lr'",)],
    "no_json_param": [("UPDATE param SET value = '}{' WHERE run = :id",)],
    "deep_param": [("UPDATE param SET value = ? WHERE run = :id", DEEP)],
    "type_param": [("UPDATE param SET type = 'secret' WHERE run = :id",)],
    "many_params": [("INSERT INTO param SELECT :id, 'p' || value, 'int', value FROM generate(3000)",)],
    "empty_names": [("UPDATE param SET name = '' WHERE run = :id AND name = 'note'",),
                    ("UPDATE result SET name = '' WHERE run = :id",)],
    "no_result": [("UPDATE result SET value = NULL WHERE run = :id",)],
    "inf_result": [("UPDATE result SET value = 9e999 WHERE run = :id",)],
    "huge_result": [("UPDATE result SET value = 1.7e308 WHERE run = :id",)],
    "least_result": [("UPDATE result SET value = -1.7e308 WHERE run = :id",)],
    "results": [("INSERT INTO result SELECT :id, 'r' || value, NULL, 's', '' FROM generate(2000)",)],
    "steps": points("accuracy", [(-BIG - 1, 1.0, 0.5), (BIG, 2.0, 0.6), (0, None, None)]),
    "values": points("accuracy", [(1, 1e308, 9e999), (2, -1e308, -9e999), (3, 1e308, 1.7e308), (4, None, -1.7e308)]),
    "units": points("step_time", [(i, float(-i), 1e300) for i in range(50)], "ms"),
    "rates": points("images_per_s", [(i, 0.0, 5e-324) for i in range(50)], "images/s"),
    "epochs": points("epoch_time", [(i * (BIG // 50), 1e9, -1.0) for i in range(50)], "s"),
    "artifacts": [("INSERT INTO artifact SELECT :id, 'a' || value, printf('%064x', value), 1152921504606846976"
                   " FROM generate(16)",)],
    "artifact_beyond": [("UPDATE artifact SET bytes = 9223372036854775807 WHERE run = :id",)],
    "artifact_size": [("UPDATE artifact SET bytes = 10000000000 WHERE run = :id",)],
    "itself": [("INSERT OR REPLACE INTO input SELECT id, 'model', key, printf('%064x', 1) FROM run WHERE id = :id",)],
    "circle": [("INSERT OR REPLACE INTO input SELECT a.id, 'model', b.key, NULL FROM run a, run b"
                " WHERE a.id = :id AND b.id = :id - 1",),
               ("INSERT OR REPLACE INTO input SELECT b.id, 'model', a.key, NULL FROM run a, run b"
                " WHERE a.id = :id AND b.id = :id - 1",)],
    "input": [("INSERT OR REPLACE INTO input VALUES(:id, 'x', '@last', '../../etc/passwd')",)],
    "forecasts": [("INSERT INTO forecast SELECT fingerprint, 'm', 'repeats', value, 9e99, 1e-300, -1.0, 'measured', key"
                   " FROM run, generate(20) WHERE id = :id",)],
    "forecast_none": [("INSERT INTO forecast SELECT fingerprint, '', '', 9223372036854775807, NULL, NULL, NULL, '', key"
                       " FROM run WHERE id = :id",)],
    "notes": [("INSERT INTO note SELECT printf('01900000-0000-7000-9000-%012x', :id), key, 'note', 1, ?, NULL,"
               " 9223372036854775807 FROM run WHERE id = :id", "n" * 200000)],
    "signature": [("INSERT INTO note SELECT printf('01900000-0000-7000-a000-%012x', :id), key, 'signature', 1, '{', '', -1"
                   " FROM run WHERE id = :id",)],
}
for _text in TEXTS:
    SOUND["no_" + _text] = run_set(_text, None)
LOOSE = {
    "types": [("UPDATE run SET seed = 'many', repeat = 'x', started = 'then', ended = x'00', wall_ms = 'long',"
               " exit_code = 1e99, signal = 'kill', digest_v = NULL WHERE id = :id",)],
    "nulls": [("UPDATE run SET key = NULL, state = NULL, seed = NULL, started = NULL, ended = NULL WHERE id = :id",)],
    "digest": run_set("digest", None),
    "blob_key": run_set("key", b"\x00\x01\xff"),
    "long_digest": run_set("digest", "f" * 5000),
    "utf8": [("UPDATE run SET experiment = CAST(x'c328' AS TEXT), recipe = CAST(x'ff' AS TEXT), facts = CAST(x'7bff7d'"
              " AS TEXT), who = CAST(x'80' AS TEXT) WHERE id = :id",)],
    "param": [("UPDATE param SET name = x'ff', type = NULL, value = NULL WHERE run = :id AND name = 'note'",),
              ("UPDATE param SET value = x'ff00ff' WHERE run = :id AND name = 'lr'",)],
    "result": [("UPDATE result SET value = 'much', unit = NULL, better = NULL WHERE run = :id",),
               ("INSERT INTO result VALUES(:id, x'ff', 1, NULL, x'ff')",)],
    "artifact": [("UPDATE artifact SET sha256 = NULL, bytes = 'big' WHERE run = :id",),
                 ("INSERT INTO artifact VALUES(:id, x'ff', '../../x', -5)",)],
    "bad_input": [("INSERT INTO input VALUES(:id, x'ff', x'00', 7)",)],
    "metric": [("INSERT INTO metric_name VALUES(9000000000, NULL, NULL, x'ff')",),
               ("INSERT INTO metric VALUES(:id, 9000000000, 'x', 'y', 'z')",),
               ("INSERT INTO metric VALUES(:id, 777777, 1, 2, 3)",)],
    "note": [("INSERT INTO note SELECT 'x', key, NULL, 7, NULL, NULL, 'x' FROM run WHERE id = :id",)],
    "forecast": [("INSERT INTO forecast SELECT fingerprint, x'ff', x'ff', 'x', 'a', 'b', 'c', NULL, key FROM run"
                  " WHERE id = :id",)],
    "bad_source": [("INSERT INTO source VALUES(NULL, x'ff', 7, NULL, 'dirty', NULL)",),
               ("UPDATE run SET source = last_insert_rowid() WHERE id = :id",)],
    "machine": [("INSERT INTO machine VALUES(NULL, NULL, x'ff')",),
                ("UPDATE run SET machine = last_insert_rowid() WHERE id = :id",)],
    "active": [("INSERT INTO active SELECT key, NULL, NULL, NULL, NULL, 'x', 'y', 'z' FROM run WHERE id = :id",)],
    "conflict": [("INSERT INTO conflict VALUES(x'ff', x'ff', NULL, NULL, NULL)",)],
    "recipe": [("INSERT INTO recipe VALUES('x', NULL, NULL, x'ff')",)],
    "dataset": [("INSERT INTO dataset VALUES(7, NULL, NULL, NULL, NULL)",), ("INSERT INTO sample VALUES(7, 0, 'x', NULL)",),
                ("INSERT INTO dataset VALUES(8, 'd', 'd', 'd', 'd')",), ("INSERT INTO sample VALUES(8, 'x', 'x', '{}')",)],
    "predictor": [("INSERT INTO predictor VALUES(x'ff', 'x', NULL), ('p', 1, '{}')",)],
    "purged": [("INSERT INTO purged VALUES(:id, NULL), (99999999, 'x')",)],
    "meta": [("INSERT INTO meta VALUES(x'ff', NULL), ('x', x'ff')",)],
}


def copy_run(db, first, new):
    columns = [row[1] for row in db.execute("PRAGMA table_info(run)")]
    values = ", ".join("?1" if c == "id" else "?2" if c == "key" else c for c in columns)
    key = "01900000-0000-7000-8000-%012x" % new
    db.execute(f"INSERT INTO run SELECT {values} FROM run WHERE id = ?3", (new, key, first))
    for table in TABLES:
        columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
        values = ", ".join("?1" if c == "run" else c for c in columns)
        db.execute(f"INSERT INTO {table} SELECT {values} FROM {table} WHERE run = ?2", (new, first))


def apply(db, statement, run):
    sql, *values = statement
    sql = re.sub(r"generate\((\d+)\)", r"(WITH RECURSIVE g(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM g"
                 r" WHERE value < \1) SELECT value FROM g)", sql)
    db.execute(sql.replace(":id", str(run)), values)


def loosen(db):
    """The tables without STRICT, NOT NULL and CHECK in their texts, for values that they would refuse."""
    texts = db.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND sql IS NOT NULL").fetchall()
    db.execute("PRAGMA writable_schema = ON")
    for name, text in texts:
        loose = text.replace(") STRICT", ")").replace("STRICT, ", "").replace(" NOT NULL", "")
        db.execute("UPDATE sqlite_schema SET sql = ? WHERE name = ?", (loose, name))
    return texts


def main():
    loose = sys.argv[1] == "--loose"
    path, *chosen = sys.argv[2:] if loose else sys.argv[1:]
    db = sqlite3.connect(path, isolation_level=None)
    for name, in db.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall():
        db.execute(f'DROP TRIGGER "{name}"')
    texts = loosen(db) if loose else []
    db.close()
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("PRAGMA ignore_check_constraints = ON")
    db.execute("BEGIN")
    first, last = db.execute("SELECT min(id), max(id) FROM run").fetchone()
    added = {}
    for name, statements in {**SOUND, **(LOOSE if loose else {})}.items():
        if chosen and name not in chosen:
            continue
        last += 1
        added[last] = name
        copy_run(db, first, last)
        for statement in statements:
            try:
                apply(db, statement, last)
            except sqlite3.Error as error:
                sys.exit(f"{name}: {statement[0]}: {error}")
    for run, name in added.items():
        if name in SOUND:
            db.execute("UPDATE run SET digest = ? WHERE id = ?", (digest(db, run), run))
    db.execute("COMMIT")
    if loose:
        db.execute("PRAGMA writable_schema = ON")
        for name, text in texts:
            db.execute("UPDATE sqlite_schema SET sql = ? WHERE name = ?", (text, name))
    db.close()
    print(len(added))


main()
