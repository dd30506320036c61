# Each item that a pack leaves out has a reason; also trials of a pack that cannot be run again, or that end
# differently.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
cat >job.py <<'P'
import os, sys
kind = sys.argv[1]
if kind == "make":
    open("w.bin", "w").write("weights")
    print("size=7")
elif kind == "use":
    print("size=%d" % len(open(sys.argv[2]).read()))
elif os.environ.get("GO_WRONG"):
    sys.exit("it goes wrong here")
else:
    print("size=1")
P
cat >job.plugin <<'Y'
plugin: job
command: [python3, job.py, "${kind}", "${w}"]
metrics_from: lines
parameters: { kind: { type: string }, w: { type: artifact, optional: true } }
metrics: { size: {} }
artifacts: { w: { path: w.bin } }
Y
cat >r.recipe <<'R'
format: 1
recipe: r
experiments:
  make: { plugin: ./job.plugin, with: { kind: make } }
  use: { plugin: ./job.plugin, with: { kind: use, w: "${make.w}" } }
  wrong: { plugin: ./job.plugin, with: { kind: other } }
report: [ { table: { rows: kind, value: size } } ]
R
head -c 1500000 /dev/zero | tr '\0' x >big.txt
ln -s job.py link.py
printf 'old text\n' >changes.txt
mkdir -p sub
git -C sub init -q
git -C sub commit -q --allow-empty -m sub
git add job.py job.plugin r.recipe big.txt link.py changes.txt
git add sub 2>/dev/null
git commit -qm first
ok orch run r.recipe -q
printf 'new text\n' >changes.txt
ok orch run r.recipe wrong -q --force
ok orch pack r.recipe r.orch
says 'big.txt: larger than 1 MiB'
says 'link.py: a symbolic link'
says 'sub: a submodule'
tar xzf r.orch --to-stdout --wildcards 'source/*/changes.txt' >texts
same "$(sort texts | tr '\n' ' ')" 'new text old text ' 'the file in both trees:'
# what has no room is one line, not one a file
mkdir many
for i in {1..30}; do head -c 900 /dev/zero | tr '\0' "$i" >"many/$i.txt"; done
git add many
ok orch pack r.recipe few.orch --sources 4K
says ' files that the recipe does not name, beyond the limit of 4.0 KiB (--sources)'
[ "$(grep -c 'left out: ' <<<"$err")" -lt 8 ] || _fail 'a line for each file'
git rm -qrf many
ok orch pack r.recipe bare.orch --artifacts none
export ORCH_USER=ta
mkdir "$SCRATCH/ta"
cd "$SCRATCH/ta"
# a trial reads from another's run: only with the artifact in the pack
ok orch verify "$SCRATCH/w/bare.orch" --rerun 9 --trust --json
python3 - "$SCRATCH/out" <<'P' || _fail 'reruns without artifacts'
import json, sys
rows = json.load(open(sys.argv[1]))["rerun"]
ran = {r["trial"]: r["outcome"] for r in rows if r["run"]}
assert len(ran) == 2 and set(ran.values()) == {"confirmed"}, rows
assert [r["why"] for r in rows if not r["run"]] == ["its inputs from other runs are not in the pack"], rows
P
GO_WRONG=1 ok orch verify "$SCRATCH/w/r.orch" --rerun 9 --trust --json
python3 - "$SCRATCH/out" <<'P' || _fail 'reruns with artifacts, one of which fails'
import json, sys
rows = {r["trial"]: r for r in json.load(open(sys.argv[1]))["rerun"]}
assert len(rows) == 3 and all(r["run"] for r in rows.values()), rows
wrong = next(r for name, r in rows.items() if name.startswith("wrong"))
assert wrong["outcome"] == "not comparable" and wrong["why"].startswith("ended ok there and failed here: "), wrong
assert [r["outcome"] for name, r in rows.items() if not name.startswith("wrong")] == ["confirmed"] * 2, rows
P
# where programs have fewer threads the times are another machine's
if [ "$(nproc)" -gt 1 ] && command -v taskset >/dev/null; then
    ok taskset -c 0 orch verify "$SCRATCH/w/r.orch" --rerun 1 --trust --json
    python3 - "$SCRATCH/out" <<'P' || _fail 'times of another machine'
import json, sys
row = next(r for r in json.load(open(sys.argv[1]))["rerun"] if r["run"])
wall = next(v for v in row["values"] if v["name"] == "wall_s")
assert wall["outcome"] != "differs" and ("another machine" in wall["why"] or "forecast for this machine" in wall["why"]), wall
P
fi
# outside of a repository: the inputs are read from the disk, but for secrets and what is gone
export ORCH_USER=ada
mkdir "$SCRATCH/plain"
cd "$SCRATCH/plain"
cp "$SCRATCH"/w/job.* .
mkdir in
echo data >in/data.txt
echo 'KEY=1' >in/.env
echo gone >gone.txt
cat >p.recipe <<'R'
format: 1
recipe: p
experiments:
  wrong: { plugin: ./job.plugin, with: { kind: other }, inputs: [ in/data.txt, in/.env, gone.txt ] }
report: [ { table: { rows: kind, value: size } } ]
R
ok orch run p.recipe -q
rm gone.txt
_run orch pack p.recipe p.orch
case $status in 0)
    says 'in/.env: '
    says 'gone.txt: '
    ;;
*) _fail "status $status" ;; esac
tar tzf p.orch >names
grep -q '/in/data.txt$' names || _fail 'no data'
! grep -q 'env$' names || _fail 'a secret'
cd "$SCRATCH/w"
# no place for the work
TMPDIR=/proc fails 3 orch pack r.recipe x.orch
says 'set TMPDIR to a writable folder'
TMPDIR=/proc fails 3 orch verify r.orch
says 'set TMPDIR to a writable folder'
mkdir none
fails 3 orch verify none
says 'orch pack RECIPE FILE'
exit 0
