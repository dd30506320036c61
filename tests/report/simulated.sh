# Simulated is not measured: the state of an answer says so, and a load of this machine does not disturb a simulated time.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
printf 'command: [echo, "{\\"rate\\": ${rate}, \\"simulated\\": ${simulated}}"]\nparameters:\n  rate: { type: real, default: 1 }\n  simulated: { type: int, default: 1 }\nmetrics:\n  rate: { better: max, unit: images/s }\n  simulated: { better: none }\n' >speed.plugin
cat >s.recipe <<'R'
format: 1
recipe: s
experiments:
  model: { plugin: ./speed.plugin, sweep: { rate: [1, 2] } }
  real: { plugin: ./speed.plugin, with: { simulated: 0 }, sweep: { rate: [3, 4] } }
report:
  - { question: "1", title: Simulated, table: { rows: rate, value: rate, experiments: model } }
  - { question: "1", title: Words, text: "of the model" }
  - { question: "2", title: Measured, table: { rows: rate, value: rate, experiments: real } }
  - { question: "2", title: Model, table: { rows: rate, value: rate, experiments: model } }
  - { question: "3", title: Mixed, table: { rows: rate, value: rate } }
  - { question: "4", title: Better, best: { value: rate, by: rate, experiments: model } }
  - { question: "5", title: Open, best: { value: rate, by: rate, experiments: real } }
R
ok orch run s.recipe -q
disturb "experiment IS NOT NULL"
ok orch report s.recipe --json
python3 - "$SCRATCH/out" <<'P' || _fail 'the states'
import json, sys
for s in json.load(open(sys.argv[1]))["sections"]:
    notes = " | ".join(b["text"] for b in s["blocks"] if b["kind"] == "note")
    want = {"Simulated": "simulated", "Model": "simulated", "Better": "simulated"}.get(s["title"], "complete")
    assert s["state"] == want, (s["title"], s["state"])
    assert ("no machine ran these trials" in notes) == (want == "simulated"), notes
    disturbed = {"Measured": "2 runs may be too slow", "Mixed": "2 runs may be too slow", "Open": "2 runs may be too slow"}.get(s["title"])
    assert disturbed in notes if disturbed else "other programs" not in notes, (s["title"], notes)
P
# a repeat of a simulation gives the same number: one run each decides which setting is best
ok orch report s.recipe --only 4
has 'Best of 2 settings: rate 2. Its rate is 2 images/s. It is better than rate 1, by 1 image'
has 'A simulation has no noise'
has_not 'without a verdict'
ok orch report s.recipe --only 5
has 'without a test for noise'
has_not 'clearly worse'
# outside of reports, too: a load while one side was simulated is no reason against a verdict
printf 'command: [echo, "{\\"rate\\": ${rate}.${repeat}, \\"simulated\\": 1}"]\nparameters:\n  rate: { type: int }\nmetrics:\n  rate: { better: max, unit: images/s }\n  simulated: { better: none }\n' >pair.plugin
cat >c.recipe <<'R'
format: 1
recipe: c
experiments:
  pair: { plugin: ./pair.plugin, sweep: { rate: [10, 20] }, repeat: 3 }
R
ok orch run c.recipe -q
disturb "recipe = 'c' AND id IN (SELECT run FROM param WHERE name = 'rate' AND value LIKE '10%')"
ok orch best rate --recipe c
has 'more than noise'
has_not 'other programs'
says_not 'other programs'
ok orch compare 'recipe = c and rate = 10' 'recipe = c and rate = 20' -m rate
has_not 'no verdict'
has_not 'other programs'
ok orch report s.recipe --points
has 'simulated: 0 in 2 parts'
ok orch report s.recipe --html s.html
grep -q 'class="state simulated">simulated<' s.html || _fail 'the page does not say it'
