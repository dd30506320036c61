# 'p1', '--only 1' and '--only p1' mean the same in every form of a report. The cells of a notebook call orch's Python module, which reads
# the store: what they show follows it, and their tables are data.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
. "$SOURCE/tests/cli/paper.sh"
sed -i '/^report:/i problems: { p1: [base, own], p2: [later] }' recipes/hw9.recipe
for words in 'p1' '--only 1' '--only p1'; do
    ok orch report recipes/hw9.recipe $words --json
    printf '%s\n' "$out" | python3 -c 'import json, sys; d = json.load(sys.stdin); d.pop("made"); print(json.dumps(d, sort_keys=True))' >"as $words"
    cmp 'as p1' "as $words" || _fail "'$words' is another report"
    mkdir -p "in $words"
    ok orch report recipes/hw9.recipe $words --ipynb --out "in $words"
    same "$(ls "in $words")" hw9_p1.ipynb "notebooks of '$words':"
    ok orch report recipes/hw9.recipe $words --html page.html
    same "$(grep -c '<h2>Problem' page.html)" 1 "problems on the page of '$words':"
done
grep -q '"question": "1.1a"' 'as p1' || _fail 'a report without its problem'
grep -q '"question": "2' 'as p1' && _fail 'a report of another problem, too'
if command -v weasyprint >/dev/null; then
    ok orch report recipes/hw9.recipe p1 --pdf p1.pdf
    says 'wrote p1.pdf'
fi
fails 2 orch report recipes/hw9.recipe --only p3
says "no question 'p3'"
fails 2 orch report recipes/hw9.recipe --ipynb --only p1.1
says 'whole problem'
# an experiment behind the recipe is still a target
ok orch report recipes/hw9.recipe base --json
same "$(json sections.0.question)" 1.1a
# the cells as Python runs them, from another folder, with a run more than when the notebook was made
ok orch report recipes/hw9.recipe --ipynb --out handin
cat >cells.py <<'P'
import json, os, sys
cells = json.load(open(sys.argv[1]))["cells"]
os.chdir(sys.argv[2])
scope, shown = {}, {}
for cell in cells:
    source = "".join(cell["source"])
    if cell["cell_type"] != "code" or "\n!" in source:
        continue
    assert source.startswith(("import ", "# ")), source  # each cell has a comment
    if "\norch.report(" in source:
        shown[cell["id"]] = eval(source, scope)
    else:
        exec(source, scope)
report = shown["orch-1-1a-run"]
html = report._repr_html_()
table = report[0].tables[0]
print(len(shown), html.count("<table"), "<script" in html, shown["orch-1-1b-run"]._repr_html_().count("<svg"))
print([row["lr"] for row in table], table[0]["final_accuracy"], report["1.1a"][0]["title"])
print(shown["orch-1-1b-run"][0].charts[0]["y"], repr(shown["orch-1-1b-run"][0].answer)[:20])
P
mkdir -p recipes/deep
_run env -u ORCH_PYTHON PATH="$BUILD:$PATH" python3 cells.py handin/hw9_p1.ipynb recipes/deep
same "$status" 0 "$err"
same "$(printf '%s\n' "$out" | head -1)" '3 1 False 1'
has "['0.1', '0.5']"
has 'Which <i>rate</i>?'
has 'loss '
grep -q 'orch.report(\\"recipes/hw9.recipe\\", only=\\"1.1a\\")' handin/hw9_p1.ipynb || _fail 'no call of the module'
grep -q 'pasted\|!orch report' handin/hw9_p1.ipynb && _fail 'the program is called'
# a section without a question is in the notebook of the problem beside it, and its cell computes only that section
sed 's/^  - { question: 1.2, points: 5/  - { title: Besides, table: { rows: lr, value: result final_accuracy, experiments: [base] } }\n&/' recipes/hw9.recipe >recipes/beside.recipe
ok orch report recipes/beside.recipe --ipynb --out beside
ls beside
grep -q 'orch.report(\\"recipes/beside.recipe\\")\[\\"Besides\\"\]' beside/hw9_p1.ipynb || _fail 'the cell of a section without a question'
grep -q Besides beside/hw9_p2.ipynb && _fail 'a section of problem 1 in the notebook of problem 2'
exit 0
