# Notebooks are valid by nbformat, nbconvert renders them, and they can be run. The test is skipped without these
# programs.
# test: slow timeout=900
. "$(dirname "$0")/../cli/lib.sh"
python=
for candidate in python3 /usr/bin/python3; do
    "$candidate" -c 'import nbformat, nbconvert, ipykernel' 2>/dev/null && {
        python=$candidate
        break
    }
done
[ -n "$python" ] || skip 'no python3 with nbformat, nbconvert and ipykernel (./build.sh paper)'
. "$SOURCE/tests/cli/paper.sh"
export JUPYTER_PLATFORM_DIRS=0 JUPYTER_DATA_DIR=$SCRATCH/jupyter JUPYTER_RUNTIME_DIR=$SCRATCH/jupyter JUPYTER_CONFIG_DIR=$SCRATCH/jupyter
export IPYTHONDIR=$SCRATCH/ipython
ok orch report recipes/hw9.recipe --ipynb --out handin
ok "$python" -c '
import nbformat, sys
for n in (1, 2):
    notebook = nbformat.read("handin/hw9_p%d.ipynb" % n, as_version=nbformat.NO_CONVERT)
    assert (notebook.nbformat, notebook.nbformat_minor) == (4, 5)
    nbformat.validate(notebook)
'
# shown: tables and charts are seen, names stay names
ok "$python" -m nbconvert --to html --output-dir shown handin/hw9_p1.ipynb
"$python" - <<'P' || _fail 'the notebook as HTML'
text = open("shown/hw9_p1.html").read()
body = text[text.index("<body"):]
assert "1.1a Which &lt;i&gt;rate" in body and "alert(1)</script>" not in body
assert "final accuracy</th>" in body
P
grep -q 'src="data:image/png;base64,' shown/hw9_p1.html || _fail 'no chart is seen'
# run again, from another folder than it was made in
ok "$python" -m nbconvert --to notebook --execute --output-dir ran --ExecutePreprocessor.kernel_name=python3 handin/hw9_p1.ipynb
"$python" - <<'P' || _fail 'the notebook, run again'
import json
cells = {c["id"]: c for c in json.load(open("ran/hw9_p1.ipynb"))["cells"]}
text = lambda id: "".join("".join(o.get("text", "")) + "".join(o.get("data", {}).get("text/html", "")) for o in cells[id]["outputs"])
assert "final accuracy</th>" in text("orch-1-1a-run"), text("orch-1-1a-run")
assert "<svg" in text("orch-1-1b-run")
assert "my own training" in text("orch-1-2-program-1")
assert all(c["execution_count"] for c in cells.values() if c["cell_type"] == "code" and c["source"])
P
exit 0
