# The report items 'converged' and 'listing', on a program that reports known series and a table.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
cat >series.py <<'P'
import sys
kind, repeat = sys.argv[1], sys.argv[2]
for step in range(1, 21):
    loss = {"still": 1 + (1 if step <= 10 else 0), "falls": 2.0 ** -step, "rises": 2.0 ** step,
            "broken": float("nan") if step == 20 else 1.0,
            "some": 1.0 if int(repeat) % 2 else 0.9 ** step, "short": 1.0}[kind]
    print('{"step": %d, "loss": %s}' % (step, loss if loss == loss else '"nan"'))
    if kind == "short":
        break
if kind != "short":
    with open("classes.csv", "w") as f:
        f.write('class,training images,validation images\n"Bag, hand",40,10\nBoot,30,10\n<b>,5,0\n')
P
cat >series.plugin <<'Y'
command: [python3, series.py, "${kind}", "${odd}"]
parameters:
  kind: { type: string, default: still }
  odd: { type: int, default: 1 }
metrics:
  loss: { better: min, step: epoch }
  result: { better: min }
artifacts:
  classes: classes.csv
Y
cat >c.recipe <<'R'
format: 1
recipe: c
experiments:
  all: { plugin: ./series.plugin, sweep: { kind: [still, falls, rises, broken, short] } }
  mixed: { plugin: ./series.plugin, with: { kind: some }, sweep: { odd: [1, 2] } }
report:
  - { question: "1", title: Converged?, converged: { value: loss, by: kind, experiments: all } }
  - { question: "2", title: Wide, converged: { value: loss, by: kind, within: 0.8, over: 0.05, experiments: all } }
  - { question: "3", title: Both, converged: { value: loss, experiments: mixed } }
  - { question: "4", title: Classes, listing: { artifact: classes, bars: [training images, validation images], experiments: all } }
  - { question: "5", title: Some, listing: { artifact: classes, columns: [class, training images], by: kind, experiments: all } }
  - { question: "6", title: None, listing: { artifact: classes, columns: [klass], experiments: all } }
R
ok orch report c.recipe
has missing
has 'orch run c.recipe'
says_not fail
ok orch run c.recipe -q
ok orch report c.recipe --only 1
python3 - "$SCRATCH/out" <<'P' || _fail 'converged'
import sys
lines = [line for line in open(sys.argv[1]) if line.startswith("  ") and len(line.split()) > 2]
rows = {line.split()[0]: line.split()[1:] for line in lines}
ends = {line.split()[0]: " ".join(line.split()[4:]) for line in lines}
assert ends["still"] == "has not converged" and float(rows["still"][2]) == 0, rows
# the mean of the last two of 20 points against that of the two before: a quarter
assert ends["falls"] == "still falls" and float(rows["falls"][2]) == -75, rows
assert ends["rises"] == "still rises" and float(rows["rises"][2]) == 300, rows
assert ends["broken"] == "diverged", rows
assert rows["short"] == ["missing"] * 4, rows
# a loss that stands still far above the best one has not converged
assert rows["falls"][1] == "1" and float(rows["still"][1].replace(",", "")) > 600000, rows
P
has 'With kind still, loss has not converged. It ends at 1, 7e+05 times the best of all settings. With kind falls, loss still falls. It ends at 1.431e-06, the best of all settings. With kind rises, loss still rises'
has 'kind broken, loss diverged'
has_not nan
has 'has covered less than 90 % of the way from its start to the best end of all settings'
has 'last 2 points'
has 'within 1 %'
ok orch report c.recipe --only 2
has 'last 1 point'
has 'within 80 %'
same "$(printf '%s\n' "$out" | awk '$1 == "falls" { print $(NF - 1), $NF }')" 'stands still'
ok orch report c.recipe --only 3
has 'still changes in some repeats'
ok orch report c.recipe --only 4
has 'Bag, hand'
has '<b>'
has images
ok orch report c.recipe --only 4 --json
python3 - "$SCRATCH/out" <<'P' || _fail 'the listing'
import json, sys
blocks = json.load(open(sys.argv[1]))["sections"][0]["blocks"]
chart = [b["chart"] for b in blocks if b.get("chart")][0]
assert chart["kind"] == "bar" and chart["x_names"] == ["Bag, hand", "Boot", "<b>"] and chart["y"] == "images", chart
assert [[p["y"] for p in s["points"]] for s in chart["series"]] == [[40, 30, 5], [10, 10, 0]], chart
P
ok orch report c.recipe --only 5
has_not 'validation images'
same "$(printf '%s\n' "$out" | grep -c 'Boot')" 4 'settings with a table'
ok orch report c.recipe --only 6
has "klass"
has missing
# wrong items are found when the recipe is read
for wrong in 'value: loss/value: result' 'value: loss/value: los' 'over: 0.05/over: 0.9' 'artifact: classes/artifact: klasses' 'by: kind/by: king'; do
    sed "s/$wrong/" c.recipe >bad.recipe
    fails 2 orch check bad.recipe
    says 'bad.recipe:'
done
# a report counts runs of this machine whatever share of its threads their slots had; a plan does not
cat >j.recipe <<'R'
format: 1
recipe: j
experiments:
  timed: { plugin: ./series.plugin, reuse: device, with: { odd: 7 }, sweep: { kind: [still, falls] } }
  fixed: { plugin: ./series.plugin, reuse: device, with: { kind: rises, odd: 7 }, resources: { cores: 1 } }
report:
  - { question: "1", table: { rows: [experiment, kind], value: last loss } }
R
ok orch run j.recipe -j 2 -q
ok orch report j.recipe
has_not missing
[ "$(nproc)" -lt 2 ] || {
    ok orch plan j.recipe
    has 'timings are not reused on another machine'
}
