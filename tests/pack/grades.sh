#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# test: quick timeout=120
# 'orch verify --grades': points proposed for each question with the reason, as CSV for a class and as the results of
# Gradescope's autograder.
. "$(dirname "$0")/../cli/lib.sh"
cat >hw.recipe <<'R'
format: 1
recipe: hw
experiments:
  cell: { plugin: "null", reuse: any, sweep: { metrics: [3, 4] } }
report:
  - { question: "1.1", points: 3, title: Values, table: { rows: metrics, value: last value } }
  - { question: "1.2", points: 2, title: By step, plot: { x: step, y: value, by: metrics } }
  - { question: "1.2", points: 1, title: Again, table: { rows: metrics, value: mean value } }
  - { question: "1.3", points: 2, title: Why, student: }
R
git add -A
git commit -qm hw
mkdir class
for who in ada =bob; do
    ORCH_USER=$who ok orch run hw.recipe --force -q
    ORCH_USER=$who ok orch pack hw.recipe "class/${who#=}.orch" -q
done
head -c 900 class/ada.orch >class/cut.orch
# a number that its rows do not give
python3 - class/ada.orch class/eve.orch <<'P'
import gzip, io, json, sys, tarfile
with tarfile.open(sys.argv[1]) as tar:
    files = [[m.name, tar.extractfile(m).read()] for m in tar.getmembers()]
with gzip.open(sys.argv[2], "wb") as out, tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
    for name, data in files:
        if name == "report.json":
            report = json.loads(data)
            row = next(b["rows"] for b in report["sections"][0]["blocks"] if b["kind"] == "table")[0]
            key = next(k for k, v in row.items() if isinstance(v, float))
            row[key] += 0.25
            data = json.dumps(report).encode()
        info = tarfile.TarInfo(name)
        info.size = len(data)
        tar.addfile(info, io.BytesIO(data))
P
fails 7 orch verify class --grades csv
cat >rows.py <<'P'
import csv, sys
rows = list(csv.DictReader(sys.stdin))
parts = {(r["hand-in"], r["part"]): r for r in rows}
assert set(parts) == {(f + ".orch", p) for f in ("ada", "bob", "eve") for p in ("1.1", "1.2", "1.3")} | {("cut.orch", "all")}, parts.keys()
for who in ("ada", "bob"):
    assert [parts[who + ".orch", p]["points"] for p in ("1.1", "1.2")] == ["3", "3"], parts
why = parts["ada.orch", "1.3"]
assert why["proposed"] == "" and "text" in why["reason"], why
bob = parts["bob.orch", "1.1"]
assert bob["who"] == "'=bob" and bob["proposed"] == "3" and "follow from the runs" in bob["reason"], bob
eve = parts["eve.orch", "1.1"]
assert eve["proposed"] == "0" and int(eve["differs"]) > 0 and "not follow" in eve["reason"], eve
assert parts["cut.orch", "all"]["proposed"] == "0" and parts["cut.orch", "all"]["reason"], parts
P
python3 rows.py <<<"$out" || _fail csv
fails 7 orch verify class --grades gradescope
python3 - "$out" <<'P' || _fail gradescope
import json, sys
d = json.loads(sys.argv[1])
assert set(d) == {"ada.orch", "bob.orch", "eve.orch", "cut.orch"}, d.keys()
assert d["bob.orch"]["score"] == 6, d["bob.orch"]
assert d["eve.orch"]["score"] < 6 and d["cut.orch"]["score"] == 0
# the fields of https://github.com/gradescope/autograder_samples/blob/master/docs/specs.md that are written, and their types
NUMBER = (int, float)
for results in d.values():
    assert set(results) == {"score", "output", "tests"} and isinstance(results["score"], NUMBER), results
    assert results["tests"] and all(t["name"] and "max_score" in t and t["output"] for t in results["tests"]), results
    for test in results["tests"]:
        assert set(test) <= {"score", "max_score", "name", "number", "output", "visibility"}, test
        assert all(isinstance(test[k], NUMBER) for k in ("score", "max_score") if k in test), test
        assert test["visibility"] in ("hidden", "after_due_date", "after_published", "visible"), test
assert [t.get("number") for t in d["bob.orch"]["tests"]] == ["1.1", "1.2", "1.3"], d["bob.orch"]
assert [t.get("number") for t in d["cut.orch"]["tests"]] == [None], d["cut.orch"]
P
ok orch verify class/bob.orch --grades gradescope
same 6.0 "$(json score)"
fails 2 orch verify class --grades marks
says 'use csv or gradescope'
