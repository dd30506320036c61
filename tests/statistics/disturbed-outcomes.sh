# Runs that other programs disturbed: their outcome counts, their time does not. A comparison of times never sets undisturbed
# runs of one setting beside disturbed ones of another: it gives no verdict, and names the command that runs them again.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
cat >t.plugin <<'Y'
command: [sh, t.sh, "${kind}", "${repeat}"]
parameters: { kind: { type: string } }
metrics: { took: { unit: s, better: min }, speed: { unit: fps, better: max }, step: { unit: ms/step, better: min }, epochs: { better: min }, reached: { better: max }, quality: { better: max } }
Y
# quick: three of four runs reach the target; slow: all, later, and in twenty times the time
cat >t.sh <<'S'
case $1$2 in
quick4) echo '{"reached": 0, "quality": 0.4}' ;;
quick*) echo "{\"reached\": 1, \"epochs\": $((3 + $2)), \"took\": 2.$2, \"speed\": 90.$2, \"step\": 2.$2, \"quality\": 0.5$2}" ;;
*) echo "{\"reached\": 1, \"epochs\": 9, \"took\": 45.$2, \"speed\": 20.$2, \"step\": 45.$2, \"quality\": 0.9$2}" ;;
esac
S
cat >t.recipe <<'R'
format: 1
recipe: t
experiments:
  t: { plugin: ./t.plugin, sweep: { kind: [quick, slow] }, repeat: 4 }
report:
  - { question: "1", title: Target, time_to_accuracy: { value: [result took, result epochs], reached: result reached, by: kind } }
  - { question: "2", title: Times, compare: { value: result took, by: kind, baseline: quick } }
  - { question: "3", title: Best, best: { value: result took, by: kind } }
  - { question: "4", title: Quality, compare: { value: result quality, by: kind, baseline: quick } }
  - { question: "5", title: Speed, compare: { value: result speed, by: kind, baseline: quick } }
  - { question: "6", title: Steps, compare: { value: result step, by: kind, baseline: quick } }
R
ok orch run t.recipe -q
ok orch report t.recipe --only 2
has SLOWER
# the three runs of 'quick' that reached the target are disturbed, the one that did not is not
disturb "id IN (SELECT run FROM param WHERE name='kind' AND value LIKE '%quick%') AND repeat < 4"
ok orch report t.recipe --only 1 --json
python3 - "$SCRATCH/out" <<'P' || _fail 'outcomes'
import json, sys
rows = [b["rows"] for b in json.load(open(sys.argv[1]))["sections"][0]["blocks"] if b["kind"] == "table"][0]
got = [(r["kind"], r["value"], r["runs"], r["reached"], r["counted"], r["median"]) for r in rows]
assert got == [("quick", "took (s)", 4, 0.75, 1, None), ("quick", "epochs", 4, 0.75, 4, 5.5),
               ("slow", "took (s)", 4, 1, 4, 45.25), ("slow", "epochs", 4, 1, 4, 9)], got
P
ok orch report t.recipe --only 1
has '3 of 4'
has 'times are only of undisturbed runs'
# all of 'slow' are disturbed, none of 'quick': nothing can be said of times, everything of outcomes
rm -rf .orch
ok orch run t.recipe -q
disturb "id IN (SELECT run FROM param WHERE name='kind' AND value LIKE '%slow%')"
for question in 2 3 5 6; do
    ok orch report t.recipe --only $question
    has 'no verdict: other programs disturbed the runs of one side only'
    has 'orch run t.recipe --disturbed t'
    has_not SLOWER
    has_not 'more than noise'
done
ok orch report t.recipe --only 2 --disturbed
has SLOWER
ok orch report t.recipe --only 4
has 'better by more than noise'
ok orch best took --json
same "$(json rankings.0.settings.1.margin.p) $(json rankings.0.compared)" 'null 0'
ok orch best took
has 'no verdict: other programs disturbed the runs of one side only'
says 'orch run RECIPE --disturbed'
ok orch compare kind=quick kind=slow -m took
has 'no verdict'
says 'orch run RECIPE --disturbed'
ok orch compare kind=quick kind=slow -m took --disturbed
has 'slower'
ok orch compare kind=quick kind=slow -m took --fail-on 'took > 10%'
says 'so it is no failure'
# on a machine that is always loaded both sides are disturbed, and are compared
disturb "1"
ok orch report t.recipe --only 2
has SLOWER
has 'may be too slow: other programs used'
# the command runs these trials again, and no others
rm -rf .orch
ok orch run t.recipe -q
disturb "id IN (SELECT run FROM param WHERE name='kind' AND value LIKE '%slow%')"
ok orch plan t.recipe --disturbed --json
python3 - "$SCRATCH/out" <<'P' || _fail 'the plan'
import json, sys
states = {(t["params"]["kind"], t["state"], t["reason"][:9]) for t in json.load(open(sys.argv[1]))["trials"]}
assert len(states) == 2 and ("slow", "missing", "disturbed") in states, states
P
ok orch run t.recipe --disturbed --json
same "$(json done_before) $(json ended.ok)" "4 4"
ok orch run t.recipe --disturbed --json
same "$(json done_before)" 8
ok orch report t.recipe --only 2
has SLOWER
