# 'orch verify' finds and names every change that was made to a pack.
# test: slow timeout=1200
. "$(dirname "$0")/../cli/lib.sh"
. "$(dirname "$0")/pack.sh"
ok orch run r.recipe tune -q
ORCH_USER=bob ok orch run r.recipe feature -q
ok orch pack r.recipe r.orch
cd "$SCRATCH"
export ORCH_USER=ta
# retar writes what it reads
retar w/r.orch same.orch 'pass'
ok orch verify same.orch
# a number of a sentence of the report, and of its table, where the list of files was made to fit
retar w/r.orch said.orch '
text = get("report.json")[1]; at = text.index(b"0.9015"); put("report.json", text[:at] + b"0.9815" + text[at + 6:]); relist()'
fails 7 orch verify said.orch
has 'says Final, tune: from 0.8115 (2 repeats: 0.8110 to 0.8120) for learning rate 0.01 to 0.9815 (0.9010 to 0.9020) for learning '
has 'its rows give Final, tune: from 0.8115 (2 repeats: 0.8110 to 0.8120) for learning rate 0.01 to 0.9015 (0.9010 to 0.9020) for learning '
retar w/r.orch number.orch '
text = get("report.json")[1]; at = text.index(b"0.9015", text.index(b"\"cells\"")); put("report.json", text[:at] + b"0.9815" + text[at + 6:]); relist()'
fails 7 orch verify number.orch
has 'differs: 1.1a Final: '
has 'says 0.98'
has 'its rows give 0.90'
has 'report.html was not compared'
# and where it was not
retar w/r.orch file.orch 'put("report.json", get("report.json")[1].replace(b"0.9015", b"0.9815"))'
fails 7 orch verify file.orch
has "problem: file 'report.json' has changed since it was packed"
has 'differs: 1.1a Final'
# the last digit that the tolerance tells
retar w/r.orch digit.orch '
document = json.loads(get("report.json")[1]); block = next(b for b in document["sections"][5]["blocks"] if "chart" in b)
def bend(v, done=[0]):
    if isinstance(v, float) and not done[0] and v: done[0] = 1; return v * (1 + 3e-9)
    return {k: bend(x) for k, x in v.items()} if isinstance(v, dict) else [bend(x) for x in v] if isinstance(v, list) else v
block["chart"] = bend(block["chart"]); put("report.json", json.dumps(document).encode()); relist()'
fails 7 orch verify digit.orch
has 'differs: 1.3 By epoch: '
has '1 differ, 0 not checked'
# an item of the report dropped; its page changed; its words changed
retar w/r.orch item.orch '
document = json.loads(get("report.json")[1]); del document["sections"][4]; put("report.json", json.dumps(document).encode()); relist()'
fails 7 orch verify item.orch
has 'differs'
retar w/r.orch page.orch 'put("report.html", get("report.html")[1].replace(b"0.9015", b"0.9815", 1)); relist()'
fails 7 orch verify page.orch
has 'problem: report.html differs from the page of this report'
has ' 0 differ'
retar w/r.orch words.orch 'put("report.json", get("report.json")[1].replace(b"settings: tune with", b"settings: tone with")); relist()'
fails 7 orch verify words.orch
has 'differs: 1.1b Winner'
# a run: one of its points, one of its results; the run's digest is computed again
retar w/r.orch point.orch '
import re
f = get("runs/"); f[1] = re.sub(rb"\[10,([^,]*),([0-9.]+)\]", rb"[10,\1,0.99]", f[1], 1)'
fails 7 orch verify point.orch
has 'problem: '
has "is in the pack's list, but not in the pack"
has 'differs: '
# a run left out: its trial and its numbers are missed
retar w/r.orch run.orch 'files.remove(get("runs/"))'
fails 7 orch verify run.orch
has "is in the pack's list, but not in the pack"
has 'is not in the pack'
has 'its rows give'
# and left out of the lists too
retar w/r.orch lists.orch '
f = get("runs/"); key = f[0][14:50]; files.remove(f)
def change(d):
    d["runs"] = [r for r in d["runs"] if r["key"] != key]
    for t in d["trials"]:
        if t["run"] == key: t["run"] = None; t["state"] = "missing"
pack(change)'
fails 7 orch verify lists.orch
has 'its rows give'
# a run of another trial in the place of one
retar w/r.orch other.orch '
def change(d):
    a, b = d["trials"][0], d["trials"][2]; a["run"], b["run"] = b["run"], a["run"]
pack(change)'
fails 7 orch verify other.orch
has 'belongs to another trial'
# the recipe, a source, the list of a tree, the list of files
retar w/r.orch recipe.orch '
f = next(f for f in files if f[0].endswith("/r.recipe")); f[1] = f[1].replace(b"best accuracy", b"min accuracy"); relist()'
fails 7 orch verify recipe.orch
has 'differs from the file in its source tree'
has "problem: the recipe's digest is"
retar w/r.orch source.orch 'f = next(f for f in files if f[0].endswith("/job.py")); f[1] += b"# late\n"; relist()'
fails 7 orch verify source.orch
has 'job.py'"' differs from the file in its source tree"
retar w/r.orch tree.orch '
def change(d):
    for rows in d["trees"].values(): rows[0][2] = "0" * 40
pack(change)'
fails 7 orch verify tree.orch
has 'does not match its list of files'
retar w/r.orch listed.orch '
def change(d): d["files"] = [f for f in d["files"] if f["path"] != "report.html"] + [{"path": "report.pdf", "bytes": 1, "sha256": "0" * 64}]
pack(change)'
fails 7 orch verify listed.orch
has "file 'report.html' is not in the pack's list of files"
has "file 'report.pdf' is missing"
# another's name on it: the runs say whose they are
retar w/r.orch name.orch '
def change(d): d["who"] = "eve"
pack(change); put("report.json", get("report.json")[1].replace(b"\"who\": \"ada\"", b"\"who\": \"eve\"")); relist()'
fails 7 orch verify name.orch
has 'runs made by ada are in the pack of eve, but the pack does not name this author'
# whose they are changed in a run: its digest tells
retar w/r.orch who.orch 'f = get("runs/"); f[1] = f[1].replace(b"\"ada\"", b"\"eve\"").replace(b"\"bob\"", b"\"eve\"")'
fails 7 orch verify who.orch
has "is in the pack's list, but not in the pack"
exit 0
