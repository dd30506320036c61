#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes tests/fuzz/corpus/merge from tests/data/store-v1.db: the store in small pages, and files that
break one rule each. Run it from the root after a change of the schema."""
import os
import shutil
import sqlite3

HERE = "tests/fuzz/corpus/merge"
KEY = "01890a5d-ac96-774b-bcce-b302099a8057"
TRIGGERS = "SELECT name FROM sqlite_schema WHERE type = 'trigger'"


def text_of(db, table):
    return db.execute("SELECT sql FROM sqlite_schema WHERE name = ?", (table,)).fetchone()[0]


def loosen(db, table):
    """The same table without STRICT and NOT NULL in its text, for values that it would refuse; the text
    that is kept is the old one again."""
    text = text_of(db, table)
    db.execute("PRAGMA writable_schema = ON")
    loose = text.replace(") STRICT", ")").replace(")STRICT", ")").replace("STRICT, ", "").replace(" NOT NULL", "")
    db.execute("UPDATE sqlite_schema SET sql = ? WHERE name = ?", (loose, table))
    return text


def made(name, *statements, loose=None):
    path = f"{HERE}/{name}.db"
    shutil.copy(f"{HERE}/whole.db", path)
    if loose:
        db = sqlite3.connect(path, isolation_level=None)
        text = loosen(db, loose)
        db.close()
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("PRAGMA ignore_check_constraints = ON")
    for statement in statements:
        db.execute(statement)
    if loose:
        db.execute("PRAGMA writable_schema = ON")
        db.execute("UPDATE sqlite_schema SET sql = ? WHERE name = ?", (text, loose))
    db.close()


os.makedirs(HERE, exist_ok=True)
shutil.copy("tests/data/store-v1.db", f"{HERE}/whole.db")
db = sqlite3.connect(f"{HERE}/whole.db", isolation_level=None)
db.execute("PRAGMA journal_mode = DELETE")
db.execute("PRAGMA page_size = 512")
db.execute("INSERT INTO note VALUES('01890a5d-ac96-774b-bcce-b302099a8060', ?, 'note', 1, 'seen', 'me', 1)", (KEY,))
db.execute("INSERT INTO forecast VALUES('f', 'm', 'paleo', 1, 1, 2, 3, 'fitted', ?)", (KEY,))
db.execute("INSERT INTO conflict VALUES(?, ?, 'somewhere', 'no run', 1)", (KEY, "0" * 64))
db.execute("INSERT INTO recipe VALUES('44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a', 'r', '{}', 'recipe: r')")
for trigger, in db.execute(TRIGGERS).fetchall():
    db.execute(f'DROP TRIGGER "{trigger}"')
db.execute("VACUUM")
db.close()

made("view", "ALTER TABLE run RENAME TO ran", "CREATE VIEW run AS SELECT * FROM ran")
made("no_table", "DROP TABLE metric")
made("virtual", "DROP TABLE sample", "CREATE VIRTUAL TABLE sample USING fts5(dataset, row, target, features)")
made("column", "ALTER TABLE param ADD COLUMN more TEXT")
made("trigger", "CREATE TRIGGER t AFTER INSERT ON run BEGIN DELETE FROM run; END")
made("index", "CREATE INDEX i ON param(hex(zeroblob(100)))")
made("newer", "PRAGMA user_version = 99")
made("foreign", "PRAGMA application_id = 7")
made("digest", "UPDATE run SET wall_ms = 1e-9")
made("claims", "UPDATE run SET digest = 'ff'")
made("version", "UPDATE run SET digest_v = 2")
made("negative", "UPDATE run SET repeat = -5, attempt = -9000000000000", "UPDATE artifact SET bytes = -1")
made("points", "UPDATE metric SET name_id = name_id + 77")
made("orphans", "PRAGMA foreign_keys = OFF", "UPDATE run SET source = 99, machine = 98")
made("twin", "DROP INDEX run_by_tail", "UPDATE param SET name = upper(name)")
made("text_number", "UPDATE run SET seed = 'many', started = 'then', wall_ms = x'00ff'", loose="run")
made("null_text", "UPDATE param SET value = NULL, type = NULL", loose="param")
made("blob_text", "UPDATE param SET value = x'00ff00', name = CAST(x'c328' AS TEXT) || name", loose="param")
made("bad_utf8", "UPDATE run SET who = CAST(x'c328' AS TEXT), experiment = CAST(x'610062' AS TEXT)")
made("huge", "UPDATE run SET facts = CAST(zeroblob(20000) AS TEXT)")
made("key", "UPDATE run SET key = '../../../../tmp/' || id")
made("kinds", "UPDATE note SET kind = 'order', key = 'x', target = ''", loose="note")
made("set", "INSERT INTO dataset VALUES(1, 'alpha', NULL, NULL, 'x')",
     """INSERT INTO sample VALUES(1, 0, NULL, '{"format":1,"target":"ms","unit":"","rows":9000000,"columns":[]}')""",
     "INSERT INTO sample VALUES(1, 1, 2.0, '[]')")
