#!/usr/bin/env bash
# 'orch verify DIR -o PAGES': a page for each hand-in with the points proposed, numbers that differ and copied runs.
# test: slow
. "$ORCH_SOURCE_DIR/tests/cli/lib.sh"
cat >hw.recipe <<'R'
format: 1
recipe: hw
experiments:
  cell: { plugin: "null", reuse: any, sweep: { metrics: [3, 12] }, repeat: 2 }
report:
  - { question: 1.1, title: Values, points: 4, table: { rows: metrics, value: last value } }
  - { question: 1.2, title: Why, points: 3, student: }
R
git add -A
git commit -qm hw
class=$SCRATCH/class
mkdir -p "$class/late"
for who in ada bob; do
    ORCH_USER=$who ok orch run hw.recipe --force -q
    ORCH_USER=$who ok orch pack hw.recipe "$class/$who.orch" -q
done
# a number of bob's that his rows do not give
python3 - "$class/bob.orch" <<'P'
import gzip, io, json, sys, tarfile
with tarfile.open(sys.argv[1]) as tar: files = [[m.name, tar.extractfile(m).read()] for m in tar.getmembers()]
with gzip.open(sys.argv[1], "wb") as out, tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
    for name, data in files:
        if name == "report.json":
            report = json.loads(data)
            row = next(b["rows"] for b in report["sections"][0]["blocks"] if b["kind"] == "table")[0]
            name_of = next(k for k, v in row.items() if isinstance(v, float)); row[name_of] += 0.25
            data = json.dumps(report).encode()
        info = tarfile.TarInfo(name); info.size = len(data); tar.addfile(info, io.BytesIO(data))
P
# ada's pack once more, and half of one
cp "$class/ada.orch" "$class/late/copy.orch"
head -c 900 "$class/bob.orch" >"$class/cut.orch"
cd "$SCRATCH"
page() { # page FILE: its text without markup
    out=$(sed '1,/<body/d; s/<[^>]*>/ /g' "pages/$1/index.html" | tr -s ' \n' ' ')
}
fails 7 orch verify class -o pages
says "the page of the class is 'pages/index.html'"
page .
has "ada.orch"
has "late/copy.orch"
page ada.orch
has "4 of 7 points are proposed; the grader decides 3"
has "all 20 numbers follow from the runs"
has_not "Numbers that differ"
has "same name"
page bob.orch
has "0 of 7 points are proposed"
has "Numbers that differ"
has "1 number does not follow from the runs"
page cut.orch
has "Problems of the pack"
# once more: its own pages are replaced, others' are not
fails 7 orch verify class -o pages
echo mine >pages/bob.orch/index.html
fails 2 orch verify class -o pages
same "$(cat pages/bob.orch/index.html)" mine
fails 2 orch verify class/ada.orch -o pages
says "needs a folder of packs"
