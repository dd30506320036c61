#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a hostile member can make of a store of his own: forge.py STORE SQL... drops the triggers that guard
its runs, runs the statements, and gives every run the digest that its changed rows have. The triggers stay away, which
nobody looks at."""
import sqlite3
import sys

from digest_v1 import digest

db = sqlite3.connect(sys.argv[1])
for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall():
    db.execute(f'DROP TRIGGER "{name}"')
for statement in sys.argv[2:]:
    db.execute(statement)
for (run,) in db.execute("SELECT id FROM run WHERE digest <> ''").fetchall():
    db.execute("UPDATE run SET digest = ? WHERE id = ?", (digest(db, run), run))
db.commit()
