# The report item speedup: intervals from repeats, the limit that the trials' own timers show, and no number from a base that
# was measured under another load.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
cat >t.plugin <<'Y'
command: [sh, t.sh, "${kind}", "${workers}", "${repeat}"]
parameters: { kind: { type: string }, workers: { type: int } }
metrics: { seconds: { unit: s, better: min }, compute: { unit: s }, hidden_not: { unit: s }, images: {}, steps: {} }
Y
# shared: two workers on the same cores compute for 0.25 s instead of 0.088 and wait 0.02 s; slow_link: they wait instead. Strong:
# each has half of the images
cat >t.sh <<'S'
case $1$2 in
shared1 | slow_link1) t=0.09$3 c=0.088 e=0 b=64 ;;
shared2) t=0.27$3 c=0.25 e=0.02 b=64 ;;
slow_link2) t=0.29$3 c=0.09 e=0.2 b=64 ;;
strong1) t=0.09$3 c=0.088 e=0 b=64 ;;
strong2) t=0.06$3 c=0.046 e=0.014 b=32 ;;
esac
steps=', "steps": 10'
[ $1$2 != strong2 ] || steps=
echo "{\"seconds\": $t, \"compute\": $c, \"hidden_not\": $e, \"images\": $b$steps}"
S
cat >t.recipe <<'R'
format: 1
recipe: t
experiments:
  t: { plugin: ./t.plugin, sweep: { kind: [shared, slow_link, strong], workers: [1, 2] }, repeat: 3 }
report:
  - { question: "1", title: A, speedup: { value: result seconds, by: kind, compute: result compute, exposed: result hidden_not, work: result images } }
  - { question: "2", title: B, speedup: { value: result seconds, by: kind, columns: [computing, communication], compute: result compute, exposed: result hidden_not, steps: result steps } }
R
ok orch run t.recipe -q
ok orch report t.recipe --only 1
has 'shared, 2 workers: slower computing limits the speedup. Each computes for 0.2500 s (ideal: 0.0880 s) and communicates for 0.0200 s outside computing'
has 'slow_link, 2 workers: communication limits the speedup. Each computes for 0.0900 s (ideal: 0.0880 s) and communicates for 0.2000 s outside computing'
has 'strong, 2 workers: communication limits the speedup. Each computes for 0.0460 s (ideal: 0.0440 s) and communicates for 0.0140 s'
has 'This says nothing about workers with a GPU or a machine each'
# Fieller's interval of two samples, by its definition: no q within it is refused by Welch's test of y - q x
ok orch report t.recipe --only 1 --json
python3 - "$SCRATCH/out" <<'P' || _fail 'the interval'
import json, math, sys
rows = next(b["rows"] for b in json.load(open(sys.argv[1]))["sections"][0]["blocks"] if "rows" in b)
row = next(r for r in rows if r["kind"] == "shared" and r["workers"] == 2)
x, y = [.271, .272, .273], [.091, .092, .093]
assert abs(row["speedup"] - .092 / .272) < 1e-12, row
spread = row["speedup_spread"]
for q in spread["low"], spread["high"]:
    a, b = q * q * 1e-6 / 3, 1e-6 / 3
    degrees, t = (a + b) ** 2 / (a * a / 2 + b * b / 2), abs(.092 - q * .272) / math.sqrt(a + b)
    # the degrees of freedom are those at the estimate: nearly the same
    assert 2 < degrees < 3 and 3.1 < t < 4.4, (q, degrees, t)
assert spread["low"] < row["speedup"] < spread["high"], spread
P
# communication that is not hidden is what the timers say, for ten steps; not t(n) - t(1)/n
ok orch report t.recipe --only 2 --json
python3 - "$SCRATCH/out" <<'P' || _fail 'timers'
import json, sys
rows = next(b["rows"] for b in json.load(open(sys.argv[1]))["sections"][0]["blocks"] if "rows" in b)
row = next(r for r in rows if r["kind"] == "shared" and r["workers"] == 2)
assert abs(row["computing_(s)"] - 2.5) < 1e-9 and abs(row["communication_(s)"] - 0.2) < 1e-9, row
# where the steps were not measured there is no number
row = next(r for r in rows if r["kind"] == "strong" and r["workers"] == 2)
assert row["computing_(s)"] is None and row["communication_(s)"] is None, row
P
ok orch report t.recipe --only 2
has 'communication: without communication during computing; measured by the trials (result hidden_not)'
# one run each: no interval, and the report says so
sed 's/repeat: 3/repeat: 1/' t.recipe >one.recipe
ok orch report one.recipe --only 1
has 'settings without an interval: 3'
# the base of 'shared' was measured beside other programs, two workers were not: no speedup
disturb "id IN (SELECT run FROM param WHERE name='kind' AND value LIKE '%shared%') AND id IN (SELECT run FROM param WHERE name='workers' AND value='1')"
ok orch report t.recipe --only 1
has_not 'shared, 2 workers'
has 'slow_link, 2 workers'
has '3 runs were disturbed by other programs, and their setting has no undisturbed run'
has 'orch run t.recipe --disturbed t'
