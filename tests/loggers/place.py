#!/usr/bin/env python3
"""Puts files of a logger (tests/loggers/files) where a trial's logger would write them: place.py FILE... DIR. FILE.sql becomes a
database, whose runs begin now."""
import os
import re
import shutil
import sqlite3
import sys
import time
from datetime import datetime, timezone



def began(path):
    """When a run of MLflow's folder began; other files come first."""
    meta = f"{path}/meta.yaml"
    found = os.path.isfile(meta) and re.search(r"start_time: (\d+)", open(meta).read())
    return int(found[1]) if found else 0


def copy_folder(source, target):
    os.makedirs(target, exist_ok=True)
    for name in sorted(os.listdir(source), key=lambda name: began(f"{source}/{name}")):
        if os.path.isdir(f"{source}/{name}"):
            copy_folder(f"{source}/{name}", f"{target}/{name}")
        else:
            shutil.copy(f"{source}/{name}", target)


*files, folder = sys.argv[1:]
os.makedirs(folder, exist_ok=True)
for file in files:
    name = os.path.basename(file)
    if os.path.isdir(file):
        copy_folder(file, f"{folder}/{name}")
    elif not file.endswith(".sql"):
        shutil.copy(file, folder)
    else:
        text = open(file).read()
        milliseconds = r"\b1[789]\d{11}\b"
        later = int(time.time() * 1000) - min(map(int, re.findall(milliseconds, text)), default=0)
        text = re.sub(milliseconds, lambda found: str(int(found[0]) + later), text)
        zone = timezone.utc if "+00:00" in text else None
        text = re.sub(r"'\d{4}-\d\d-\d\dT[^']*'", f"'{datetime.now(zone).isoformat()}'", text)
        db = sqlite3.connect(f"{folder}/{name[:-4]}.db")
        if "trackio" in name:
            db.execute("PRAGMA journal_mode = wal")
        db.executescript(text)
        db.close()
