#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes the first inputs of the fuzz targets mlruns, wandb, tensorboard, mlflow_db, optuna_db, zip and prices
from tests/data/runs and share/hardware. Run it from the root; inputs of found faults have other names and stay."""
import glob
import io
import os
import sqlite3
import struct
import zipfile
import zlib

RUNS = "tests/data/runs"


def put(target, name, data):
    with open(f"{glob.glob('tests/*/corpus/' + target)[0]}/{name}", "wb") as file:
        file.write(data if isinstance(data, bytes) else data.encode())


def read(path):
    with open(path, "rb") as file:
        return file.read()


def make_mlruns():
    store = f"{RUNS}/mlruns/934495199370614307"
    run = f"{store}/04a5aaba8772408d9d5f0ef0f5b4315a"
    parts = [f"{run}/meta.yaml", f"{run}/metrics/train/loss", f"{run}/params/lr", f"{run}/tags/team", f"{store}/meta.yaml"]
    put("mlruns", "whole", b"\f".join(map(read, parts)))
    put("mlruns", "odd", "status: 5\nstart_time: -1\nend_time: 1e300\nrun_name: ~\nlifecycle_stage: active\n\f"
        "1700000000000 nan 3\n1700000000001 inf -1\nx y z\n1 2 9223372036854775807\n\f0x10\f\f"
        "name: [a, b]\n")


def wandb_records(data):
    """The records of run-ID.wandb as (type, length, bytes)."""
    out, at = b"", 7
    while at + 7 <= len(data):
        length, kind = struct.unpack_from("<HB", data, at + 4)
        out += struct.pack("<BH", kind - 1, length) + data[at + 7:at + 7 + length]
        at += 7 + length
    return out


def make_wandb():
    log = read(glob.glob(f"{RUNS}/wandb/offline-*/*.wandb")[0])
    files = glob.glob(f"{RUNS}/wandb/run-*/files")[0]
    names = ["config.yaml", "wandb-metadata.json", "wandb-history.jsonl", "wandb-summary.json"]
    put("wandb", "csv", b"c" + read(f"{RUNS}/wandb-runs.csv"))
    put("wandb", "log", b"r" + log)
    put("wandb", "records", b"l" + wandb_records(log))
    put("wandb", "files", b"\f".join(read(f"{files}/{name}") if os.path.exists(f"{files}/{name}") else b"" for name in names))


def make_tensorboard():
    for kind in "simple", "tensor":
        data = read(glob.glob(f"{RUNS}/tensorboard/{kind}/**/*.tfevents.*", recursive=True)[0])
        put("tensorboard", kind, data)
        out, at = b"", 0
        while at + 16 <= len(data):
            length = struct.unpack_from("<Q", data, at)[0]
            out += struct.pack("<H", length) + data[at + 12:at + 12 + length]
            at += 16 + length
        put("tensorboard", kind + "-records", out)


def make_mlflow_db():
    name = "tests/imports/corpus/mlflow_db/whole.db"
    if os.path.exists(name):
        os.remove(name)
    db = sqlite3.connect(name, isolation_level=None)
    db.execute("PRAGMA page_size = 512")
    old = sqlite3.connect(f"file:{RUNS}/mlflow.db?mode=ro", uri=True)
    for table in "runs", "experiments", "params", "metrics", "tags":
        db.execute(old.execute("SELECT sql FROM sqlite_schema WHERE name = ?", (table,)).fetchone()[0])
        for row in old.execute(f"SELECT * FROM {table}"):
            db.execute(f"INSERT INTO {table} VALUES({','.join('?' * len(row))})", row)
    db.close()


def make_optuna_db():
    os.makedirs("tests/imports/corpus/optuna_db", exist_ok=True)
    name = "tests/imports/corpus/optuna_db/whole.db"
    if os.path.exists(name):
        os.remove(name)
    db = sqlite3.connect(name, isolation_level=None)
    db.execute("PRAGMA page_size = 512")
    old = sqlite3.connect(f"file:{RUNS}/study.db?mode=ro", uri=True)
    for table, sql in old.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'table'").fetchall():
        db.execute(sql)
        for row in old.execute(f"SELECT * FROM {table}"):
            db.execute(f"INSERT INTO {table} VALUES({','.join('?' * len(row))})", row)
    db.close()


def make_zip():
    for name, method in ("stored", zipfile.ZIP_STORED), ("deflated", zipfile.ZIP_DEFLATED):
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", method) as archive:
            archive.writestr("a/data", b"data " * 50)
            archive.writestr("empty", b"")
            archive.writestr("a/", b"")
        put("zip", name, out.getvalue())
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive, archive.open("big", "w", force_zip64=True) as file:
        file.write(b"x" * 100)
    put("zip", "zip64", out.getvalue())
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    put("zip", "written", b"write and read " * 20)
    put("zip", "raw-deflate", struct.pack("<H", 1000) + packer.compress(b"ab" * 500) + packer.flush())


def make_prices():
    rows = read("share/hardware/prices.csv").split(b"\n")
    put("prices", "few", b"\n".join(rows[:4]) + b"\n")
    put("prices", "own", rows[0] + b'\nrtx 5090,"my, cloud",box,here,8,2.5,,2025-11,fee,"a ""bill""",2025-12\r\n\r\n')
    put("prices", "numbers", b"a,b\n3.0,1e400\n-1,nan\n9223372036854775808,0x1p3\n")


for make in make_mlruns, make_wandb, make_tensorboard, make_mlflow_db, make_optuna_db, make_zip, make_prices:
    make()
