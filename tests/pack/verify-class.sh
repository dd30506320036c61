# A class of 40: every hand-in is verified, and all are compared. Two are copies under another name, one has a changed
# number, and one declares that it uses a classmate's runs.
# test: slow timeout=1200
. "$(dirname "$0")/../cli/lib.sh"
cat >hw.recipe <<'R'
format: 1
recipe: hw
experiments:
  cell: { plugin: "null", reuse: any, sweep: { metrics: [3, 12] }, repeat: 2 }
report:
  - { question: 1.1, title: Values, table: { rows: metrics, value: last value } }
  - { question: 1.2, title: By step, plot: { x: step, y: value, by: metrics } }
R
git add -A
git commit -qm hw
mkdir "$SCRATCH/class"
for i in $(seq -w 1 36); do
    ORCH_USER=student$i ok orch run hw.recipe --force -q
    ORCH_USER=student$i ok orch pack hw.recipe "$SCRATCH/class/$i.orch" -q
    [ "$i" = 03 ] && cp .orch/results.db "$SCRATCH/eve.db" && cp .orch/results.db "$SCRATCH/mallory.db"
done
# nothing of one's own: a classmate's runs, with their name
ORCH_USER=sharer ok orch run hw.recipe -q
ORCH_USER=sharer ok orch pack hw.recipe "$SCRATCH/class/37.orch" -q
# student03's runs under another name, digests and all: eve makes new keys too, mallory keeps them
rename() {
    PYTHONPATH=$SOURCE/tests/store python3 - "$@" <<'P'
import sqlite3, sys, uuid, digest_v1
path, who, new_keys = sys.argv[1:]
db = sqlite3.connect(path)
for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall(): db.execute("DROP TRIGGER " + name)
for run, key in db.execute("SELECT id, key FROM run WHERE who = 'student03'").fetchall():
    if new_keys == "yes": key = key[:14] + str(uuid.uuid4())[14:]
    db.execute("UPDATE run SET who = ?, key = ? WHERE id = ?", (who, key, run))
    db.execute("UPDATE run SET digest = ? WHERE id = ?", (digest_v1.digest(db, run), run))
db.commit()
P
}
rename "$SCRATCH/eve.db" eve yes
rename "$SCRATCH/mallory.db" mallory no
for who in eve mallory; do ORCH_USER=$who ok orch pack hw.recipe --db "$SCRATCH/$who.db" "$SCRATCH/class/$who.orch" -q; done
# a number that its rows do not give
mkdir "$SCRATCH/class/38"
python3 - "$SCRATCH/class/09.orch" "$SCRATCH/class/38/hw.orch" <<'P'
import gzip, io, json, sys, tarfile
with tarfile.open(sys.argv[1]) as tar: files = [[m.name, tar.extractfile(m).read()] for m in tar.getmembers()]
with gzip.open(sys.argv[2], "wb") as out, tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
    for name, data in files:
        if name == "report.json":
            report = json.loads(data)
            row = next(b["rows"] for b in report["sections"][0]["blocks"] if b["kind"] == "table")[0]
            name_of = next(k for k, v in row.items() if isinstance(v, float)); row[name_of] += 0.25
            data = json.dumps(report).encode()
        info = tarfile.TarInfo(name); info.size = len(data); tar.addfile(info, io.BytesIO(data))
P
rm "$SCRATCH/class/09.orch"
echo 'not mine' >"$SCRATCH/class/readme.txt"
head -c 900 "$SCRATCH/class/05.orch" >"$SCRATCH/class/cut.orch"
cd "$SCRATCH"
export ORCH_USER=ta
begin=$(date +%s)
fails 7 orch verify class --json
seconds=$(($(date +%s) - begin))
[ $seconds -lt 300 ] || _fail "a class of 40 took $seconds s"
printf '%s' "$out" | python3 -c '
import json, sys
d = json.load(sys.stdin)
rows = {r["hand-in"]: r for r in d["handins"]}
assert len(rows) == 40, sorted(rows)
bad = {name: r["outcome"] for name, r in rows.items() if r["outcome"] != "confirmed"}
assert bad == {"03.orch": "copied", "eve.orch": "copied", "mallory.orch": "copied", "38/hw.orch": "differs", "cut.orch": "no pack"}, bad
assert rows["37.orch"]["shared"] == 4 and rows["37.orch"]["undeclared"] == 0, rows["37.orch"]
assert all(r["confirmed"] > 10 for name, r in rows.items() if name != "cut.orch")
copies = [c for c in d["in_common"] if c["kind"] == "copied run"]
pairs = {tuple(sorted((c["file"].split("/")[-1], c["other"].split("/")[-1]))) for c in copies}
assert pairs == {("03.orch", "eve.orch"), ("03.orch", "mallory.orch"), ("eve.orch", "mallory.orch")}, pairs
assert len(copies) == 12, len(copies)
what = {c["what"].split(":")[0] for c in copies}
assert what == {"exactly equal", "same run key but different contents"}, what
assert any("when it began" in c["what"] and "the times of its 12 points" in c["what"] for c in copies), copies
' || _fail 'the class as JSON'
fails 7 orch verify class/
has 'cut.orch: '
has '38/hw.orch: 1.1 Values: '
has 'its rows give'
has 'copied run: '
has 'shared run: '
has 'made by student36, handed in by sharer, declared'
mkdir good
cp class/1*.orch class/37.orch good
ok orch verify good -j 2
mkdir none
fails 3 orch verify none
says 'there is no pack'
fails 2 orch verify good --rerun 1
says 'is a folder'
exit 0
