# A report as a page, as files, as a PDF and as notebooks for the hand-in.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
. "$SOURCE/tests/cli/paper.sh"
check() { python3 "$SOURCE/tests/report/$1" "$2" >"$SCRATCH/said" || _fail "$2: $(cat "$SCRATCH/said")"; }

# the folder: a page that stands alone, charts, tables, data; what else is there stays
mkdir -p out && echo mine >out/notes.txt
ok orch report recipes/hw9.recipe --out out
says 'out/index.html'
same "$out" ''
check check_page.py out/index.html
grep -q '5 tables, ' "$SCRATCH/said" || _fail 'tables are missing on the page'
check check_contrast.py out/index.html
same "$(cat out/notes.txt)" mine
grep -q '<script' out/index.html && _fail 'a name became a script'
for text in 'Problem 1' '&lt;script&gt;alert(1)' 'Which &lt;i&gt;rate' '4 points' 'Yours to write: Why does' \
    'Get it with: <code>orch run recipes/hw9.recipe later' 'Made of 4 runs' '--only 1.1a' 'tester'; do
    grep -qF -- "$text" out/index.html || _fail "the page lacks: $text"
done
# what all runs of a table share is said above it, and is no column
grep -q '<p class="note">All by tester, on ' out/index.html || _fail 'who ran them all'
grep -q '<th scope="col">by</th>' out/index.html && _fail 'a column of one name'
for file in 1.1a-which-i-rate-i.csv 1.1a-which-i-rate-i.md 1.1a-which-i-rate-i.tex 1.2-my-own-program.csv; do
    [ -s "out/tables/$file" ] || _fail "no $file"
done
grep -q '^0.1,' out/tables/1.1a-which-i-rate-i.csv || _fail 'a table without its rows'
grep -q 'begin{tabular}' out/tables/1.2-my-own-program.tex || _fail 'no LaTeX'
same "$(cut -d, -f3 out/charts/1.1b-loss-by-epoch.csv | sort | uniq -c | xargs)" '6 measured 1 role 12 run' 'the chart: 2 rates, 3 epochs, 2 runs each'
for ending in svg png pdf; do [ -s out/charts/1.1b-loss-by-epoch.$ending ] || _fail "no chart as $ending"; done
grep -q '<svg' out/index.html || _fail 'no chart in the page'
ok orch db info --json
grep -qF "$(json digest)" out/index.html || _fail "the page lacks the store's digest"
# pages and charts need no other program; a PDF needs WeasyPrint, and says so
mkdir -p "$SCRATCH/bin"
for program in python3 git; do ln -sf "$(command -v $program)" "$SCRATCH/bin/$program"; done
ok env PATH="$SCRATCH/bin" "$BUILD/orch" report recipes/hw9.recipe --out plain
for ending in svg png pdf; do
    cmp out/charts/1.1b-loss-by-epoch.$ending plain/charts/1.1b-loss-by-epoch.$ending || _fail "the $ending drawn again differs"
done
fails 3 env PATH="$SCRATCH/bin" "$BUILD/orch" report recipes/hw9.recipe --pdf x.pdf
says 'apt install weasyprint'
[ ! -e x.pdf ] || _fail 'half a PDF'
if command -v weasyprint >/dev/null; then
    ok orch report recipes/hw9.recipe --pdf x.pdf
    says 'wrote x.pdf'
    [ "$(head -c 5 x.pdf)" = '%PDF-' ] || _fail 'x.pdf is no PDF'
    if command -v pdftotext >/dev/null; then
        pdftotext x.pdf x.txt
        grep -q 'Loss by epoch' x.txt || _fail 'the PDF lacks a title'
    fi
fi
fails 3 orch report recipes/hw9.recipe --out out/notes.txt
ok orch report recipes/hw9.recipe --out out --json
same "$(json written.0)" out/tables/1.1a-which-i-rate-i.csv

# notebooks: a problem each; a part alone would lose the others
fails 2 orch report recipes/hw9.recipe --ipynb --only 1.1a
says 'whole problem'
fails 2 orch report recipes/hw9.recipe own --ipynb
ok orch report recipes/hw9.recipe --ipynb --out handin
says 'wrote handin/hw9_p2.ipynb'
cat >look.py <<'P'
import json, sys
nb = json.load(open("handin/hw9_p%s.ipynb" % sys.argv[1]))
print("\n".join("%s|%s|%s" % (c["cell_type"], c["id"], "".join(c["source"]).replace("\n", "/")) for c in nb["cells"]))
P
_run python3 look.py 1
has 'markdown|orch-1-1a|## 1.1a Which &lt;i&gt;rate&lt;/i&gt;? (4 points)'
has 'code|orch-1-1a-run|# Computes question 1.1a from the stored runs: Which <i>rate</i>?/orch.report("recipes/hw9.recipe", only="1.1a")'
has "code|orch-1-2-program-1|# The program of this part, as it was run./!cat 'recipes/mine.py'"
has 'markdown|orch-1-1b-answer|'
python3 -c '
import json
cells = {c["id"]: c for c in json.load(open("handin/hw9_p1.ipynb"))["cells"]}
assert "my own training" in "".join(cells["orch-1-2-program-1"]["outputs"][0]["text"])
data = [o["data"] for o in cells["orch-1-1a-run"]["outputs"] if "data" in o]
assert "<table>" in "".join(data[0]["text/html"]) and "final accuracy" in "".join(data[0]["text/plain"])
assert cells["orch-1-1b-answer"]["source"] == []
assert all(c["execution_count"] is None for c in cells.values() if c["cell_type"] == "code")
' || _fail 'a notebook is not what it should be'

# handing in: says what is missing, refuses nothing
for id in '' '../x' 'a b' '-x' .x "$(printf 'a%.0s' $(seq 33))"; do fails 2 orch submit recipes/hw9.recipe --netid "$id"; done
fails 2 orch submit recipes/hw9.recipe
says '--netid abc123'
fails 8 orch submit recipes/hw9.recipe --netid abc123 --out handin
has '2.2'
has 'orch run recipes/hw9.recipe later'
has 'you have to write a text in 2 parts with 5 points'
has 'still empty: 1.1b (hw9_p1.ipynb), 2.1 (hw9_p2.ipynb)'
has 'handin/abc123_hw9.zip'
# what was written is in the archive, and still in the notebook
python3 - <<'P'
import json
path = "handin/hw9_p2.ipynb"
nb = json.load(open(path))
[c for c in nb["cells"] if c["id"] == "orch-2-1-answer"][0]["source"] = ["One has labels,\n", "the other some."]
nb["cells"].append({"cell_type": "code", "id": "mine", "metadata": {}, "source": ["1 + 1"], "outputs": [], "execution_count": None})
json.dump(nb, open(path, "w"))
P
ok orch run recipes/hw9.recipe -q
fails 8 orch submit recipes/hw9.recipe --netid abc123 --out handin
has_not 'not complete'
has 'still empty: 1.1b (hw9_p1.ipynb)'
has_not '2.1 ('
has '2 cells of yours kept'
python3 -c '
import json, zipfile
z = zipfile.ZipFile("handin/abc123_hw9.zip")
assert z.testzip() is None and z.namelist() == ["abc123_hw9_p1.ipynb", "abc123_hw9_p2.ipynb"], z.namelist()
text = z.read("abc123_hw9_p2.ipynb").decode()
assert text == open("handin/hw9_p2.ipynb").read()
cells = {c["id"]: "".join(c["source"]) for c in json.loads(text)["cells"]}
assert cells["orch-2-1-answer"] == "One has labels,\nthe other some." and cells["mine"] == "1 + 1"
' || _fail 'the archive is not what it should be'
fails 8 orch submit recipes/hw9.recipe --netid abc123 --out handin --json
same "$(json totals.to_write) $(json answers.1.question) $(json answers.1.empty) $(json missing.#)" '5.0 2.1 false 0'
# a notebook of someone else's is not written over
echo '{"cells": []}' >handin/hw9_p1.ipynb
fails 3 orch submit recipes/hw9.recipe --netid abc123 --out handin
says "handin/hw9_p1.ipynb"
same "$(cat handin/hw9_p1.ipynb)" '{"cells": []}'
exit 0
