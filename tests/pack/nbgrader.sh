#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# test: timeout=120
# The notebooks of a hand-in are those of nbgrader: its own reader accepts their cells, and each part with points has one
# cell that is graded. A student's copy of such a cell is no second one.
. "$(dirname "$0")/../cli/lib.sh"
judge_by nbgrader.nbgraderformat nbformat
cat >hw.recipe <<'R'
format: 1
recipe: hw
experiments:
  cell: { plugin: "null", sweep: { metrics: [3, 4] } }
report:
  - { question: "1.1", points: 3, title: Values, table: { rows: metrics, value: last value } }
  - { question: "1.2", points: 2, student: Why are they so }
  - { question: "1.3", title: No points, table: { rows: metrics, value: last value } }
R
ok orch run hw.recipe -q
ok orch report hw.recipe --ipynb -o handin
cat >judge.py <<'P'
import json, sys
import nbformat
from nbgrader import nbgraderformat, utils
text = open(sys.argv[1]).read()
nbformat.validate(nbformat.reads(text, as_version=4))
book = nbgraderformat.reads(text, as_version=4)
graded = [c for c in book.cells if utils.is_grade(c)]
assert all(utils.is_solution(c) for c in graded)
assert len({c.metadata.nbgrader.grade_id for c in graded}) == len(graded)
print([c.metadata.nbgrader.points for c in graded])
P
ok "$judge" judge.py handin/hw_p1.ipynb
has '[3.0, 2.0]'
# the student writes, and copies the cell with its metadata
python3 - <<'P'
import json
book = json.load(open("handin/hw_p1.ipynb"))
at, cell = next((i, c) for i, c in enumerate(book["cells"]) if c["metadata"].get("orch", {}).get("student"))
cell["source"] = ["Because."]
book["cells"].insert(at + 1, json.loads(json.dumps(cell)))
json.dump(book, open("handin/hw_p1.ipynb", "w"))
P
ok orch report hw.recipe --ipynb -o handin
ok "$judge" judge.py handin/hw_p1.ipynb
has '[3.0, 2.0]'
grep -q Because handin/hw_p1.ipynb || _fail 'the answer was lost'
