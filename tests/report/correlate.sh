# The report item 'correlate': rank correlations of two results within groups, their mean with interval and p, and
# missing trials.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
cat >pair.plugin <<'Y'
command: [sh, pair.sh, "${group}", "${n}"]
parameters: { group: { type: string }, n: { type: int } }
metrics: { far: {}, good: { better: max } }
Y
# group a: far 1 2 3 4, good 4 3 2 1 (rho -1); group b: good 40 30 10 20 (rho -0.8); the seed moves neither order
cat >pair.sh <<'S'
case $1$2 in b3) good=10 ;; b4) good=20 ;; b*) good=$((50 - 10 * $2)) ;; *) good=$((5 - $2)) ;; esac
printf '{"far": %d, "good": %d}\n' "$2" "$good"
S
cat >t.recipe <<'R'
format: 1
recipe: t
experiments:
  pairs: { plugin: ./pair.plugin, sweep: { group: [a, b], n: [1, 2, 3, 4] }, repeat: 2 }
report:
  - { question: "1", title: Does far forecast good, correlate: { x: last far, y: last good, by: group, experiments: [pairs] } }
  - { question: "2", title: One group, correlate: { x: far, y: good, where: group = b } }
R
ok orch check t.recipe
ok orch run t.recipe -q
ok orch report t.recipe --only 1
has 'Mean rank correlation of far and good: -0.90 (95 % interval -1.00 to 0.37'
ok orch report t.recipe --only 1 --json
python3 - "$SCRATCH/out" <<'P' || _fail 'the table'
import json, sys
def tables(node):
    if isinstance(node, dict):
        if "rank correlation" in json.dumps(node) and isinstance(node.get("rows"), list):
            yield node["rows"]
        for value in node.values():
            yield from tables(value)
    elif isinstance(node, list):
        for value in node:
            yield from tables(value)
rows = next(tables(json.load(open(sys.argv[1]))))
text = json.dumps(rows)
assert len(rows) == 2 and "-0.8" in text, text
P
ok orch report t.recipe --only 2
has 'Mean rank correlation of far and good: -0.80 (no interval: too few settings), p'
ok orch report t.recipe --only 2 -s pairs.n=9
has 'missing'
printf 'format: 1\nrecipe: o\nexperiments: { pairs: { plugin: ./pair.plugin, with: { group: a, n: 1 } } }\nreport: [ { title: t, correlate: { x: far, y: nothing } } ]\n' >o.recipe
fails 2 orch check o.recipe
says "nothing"
says 'at: o.recipe:4'
exit 0
