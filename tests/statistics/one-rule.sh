# Intervals and verdicts of comparisons: both allow for the same choices and numbers of tests, and only runs of equal settings
# are paired.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
cat >t.plugin <<'Y'
command: [sh, t.sh, "${how}", "${lr}", "${repeat}"]
parameters: { how: { type: string }, lr: { type: real, default: 0.1 } }
metrics: { quality: { better: max }, took: { unit: s, better: min } }
Y
# 'new' is as good and as fast as 'old' at each learning rate; 0.01 takes twice as long as 0.1
cat >t.sh <<'S'
case $1$2$3 in
*0.011) t=20.1 q=0.61 ;; *0.012) t=20.2 q=0.63 ;; *0.013) t=20.3 q=0.60 ;; *0.014) t=20.4 q=0.62 ;;
*1) t=10.1 q=0.71 ;; *2) t=10.2 q=0.69 ;; *3) t=10.3 q=0.72 ;; *) t=10.4 q=0.70 ;;
esac
printf '{"quality": %s, "took": %s}\n' $q $t
S
cat >t.recipe <<'R'
format: 1
recipe: t
experiments:
  t: { plugin: ./t.plugin, sweep: { how: [old, new], lr: [0.1, 0.01] }, repeat: 4 }
report:
  - { question: "1", title: Times, compare: { value: result took, by: how, baseline: old } }
  - { question: "2", title: Chosen, compare: { value: result quality, by: how, best_of: lr, baseline: old } }
R
ok orch run t.recipe -q
ok orch report t.recipe --only 1
has 'SAME'
# two runs of 'old' at 0.01 are disturbed: its seeds 1 and 2 then have 0.1 alone, those of 'new' both rates
disturb "repeat < 3 AND id IN (SELECT run FROM param WHERE name='how' AND value LIKE '%old%') AND id IN (SELECT run FROM param WHERE name='lr' AND value='0.01')"
ok orch report t.recipe --only 1
has 'SAME'
has 'the difference is over pairs of runs with the same seed that differ only in how. 2 runs have no such partner and are left out'
# p of a choice allows for all pairs of settings from which both were picked: two learning rates each
ok orch report t.recipe --only 2
has 'corrected for 4 pairs (Bonferroni): 1 comparison with old how, and choosing the best lr for each of them'

# made data in which some differences are more than noise and others are not: nowhere an interval without zero beside 'not
# more than noise', or one with zero beside 'more than noise'
cat >d.plugin <<'Y'
command: [sh, d.sh, "${kind}", "${repeat}"]
parameters: { kind: { type: string } }
metrics: { score: { better: max }, other: { better: max }, third: { better: max } }
Y
cat >d.sh <<'S'
awk -v k=$1 -v r=$2 'BEGIN { s = k * 1.6 + ((k * 7 + r * 3 + k * r) % 5); printf "{\"score\": %g, \"other\": %g, \"third\": %g}\n", s, s + r, 10 + s / 3 }'
S
cat >d.recipe <<'R'
format: 1
recipe: d
experiments:
  d: { plugin: ./d.plugin, sweep: { kind: ["1", "2", "3", "4", "5"] }, repeat: 5 }
report:
  - { title: A, compare: { value: score, by: kind, baseline: "1" } }
  - { title: B, best: { value: score, by: kind } }
R
ok orch run d.recipe -q
ok orch report d.recipe
cp "$SCRATCH/out" report
for pair in 1,2 1,3 1,4 1,5 2,4; do
    ok orch compare "kind=${pair%,*}" "kind=${pair#*,}" --json -m score -m other -m third --across
    cat "$SCRATCH/out"
done >compared
ok orch best score --json
python3 - report compared "$SCRATCH/out" <<'P' || _fail 'interval and verdict'
import json, re, sys
report = open(sys.argv[1]).read()
found = re.findall(r"\(95 % interval (\S+) to (\S+)\), (not more|(?:better by |worse by )?more) than noise\. Test: ", report)
assert len(found) >= 5, report
kinds = set()
def check(low, high, is_different):
    assert (low > 0 or high < 0) == is_different, (low, high, is_different)
    kinds.add(is_different)
for low, high, words in found:
    check(float(low), float(high), words != "not more")
assert kinds == {True, False}, found
text, decoder, at = open(sys.argv[2]).read(), json.JSONDecoder(), 0
kinds = set()
while at < len(text.rstrip()):
    one, at = decoder.raw_decode(text, at)
    at += len(text[at:]) - len(text[at:].lstrip())
    assert one["correction"] == "bonferroni", one
    for row in one["metrics"]:
        shift = 1 if "ratio" in row else 0
        check(row["low"] - shift, row["high"] - shift, row["p_corrected"] < 0.05)
        assert (row["verdict"] == "different") == (row["p_corrected"] < 0.05), row
assert kinds == {True, False}, text
for ranking in json.load(open(sys.argv[3]))["rankings"]:
    for setting in ranking["settings"][1:]:
        m = setting["margin"]
        check(m["low"], m["high"], m["more_than_noise"])
P
