#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# test: slow timeout=600
# The notebooks of a hand-in are those of nbgrader: its own reader accepts their cells, and each part with points has one
# cell that is graded. A student's copy of such a cell is no second one. nbgrader collects, grades and returns a class.
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
# A class: the ZIPs of 'orch submit' are collected, graded without running them, and given back with what they show
ok orch submit hw.recipe --netid ada1 -o handin
python3 - <<'P'
import json
book = json.load(open("handin/hw_p1.ipynb"))
next(c for c in book["cells"] if c["source"] == ["Because."])["source"] = []
json.dump(book, open("handin/hw_p1.ipynb", "w"))
P
_run orch submit hw.recipe --netid bob2 -o handin
same 8 "$status" 'a text is empty'
course=$SCRATCH/course
mkdir -p "$course/source/hw" "$course/downloaded/hw/archive"
cp handin/hw_p1.ipynb "$course/source/hw"
cp handin/*.zip "$course/downloaded/hw/archive"
cd "$course"
PATH=${ORCH_VALIDATORS:+$ORCH_VALIDATORS/bin:}$PATH # nbgrader starts alembic
grader() { ok "$judge" -m nbgrader "$@"; }
grader generate_assignment hw --create
grader zip_collect hw --FileNameCollectorPlugin.named_regexp='.*/(?P<student_id>[a-z0-9]+)_(?P<file_id>[^/]+)'
grader autograde hw --ClearOutput.enabled=False --Execute.enabled=False
grader generate_feedback hw
cat >grades.py <<'P'
from nbgrader.api import Gradebook
with Gradebook("sqlite:///gradebook.db") as book:
    assignment = book.find_assignment("hw")
    print(assignment.max_score, [(s.student.id, [(g.name, g.max_score, g.needs_manual_grade) for n in s.notebooks for g in n.grades])
                                 for s in assignment.submissions])
P
ok "$judge" grades.py
cells="('orch-1-1-run', 3.0, True), ('orch-1-2-answer', 2.0, True)"
same "5.0 [('ada1', [$cells]), ('bob2', [$cells])]" "$out" 'points left to the grader'
grep -q Because feedback/ada1/hw/hw_p1.html || _fail 'the text is not given back'
grep -q 'made of' feedback/bob2/hw/hw_p1.html || _fail 'the outputs were cleared'
