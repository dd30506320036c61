# A section begins with the sentence that its chart or table says, whose numbers are those of the runs.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
cat >speed.py <<'P'
import sys
workers, mode = int(sys.argv[1]), sys.argv[2]
print('{"rate": %g, "share": 0.5}' % (100 * workers * (1 if mode == "weak" else 0.75)))
for epoch in range(1, 4):
    print('{"step": %d, "loss": %g}' % (epoch, workers / epoch))
P
cat >speed.plugin <<'Y'
command: [python3, speed.py, "${workers}", "${mode}"]
parameters:
  workers: { type: int, default: 1 }
  mode: { type: string, default: weak }
metrics:
  loss: { better: min, step: epoch }
  rate: { better: max, unit: images/s }
  share: { better: max }
Y
cat >noisy.py <<'P'
for epoch in range(1, 41):
    print('{"step": %d, "noise": %g, "trend": %g, "location_part_of_the_loss": 1, "class_part_of_the_loss": 2}' % (epoch, 50 + 40 * (epoch % 2) + epoch / 10, 100 * epoch + 40 * (epoch % 2)))
P
cat >noisy.plugin <<'Y'
command: [python3, noisy.py]
metrics:
  noise: { unit: "%", step: epoch }
  trend: { unit: "%", step: epoch }
  location_part_of_the_loss: { step: epoch }
  class_part_of_the_loss: { step: epoch }
Y
cat >a.recipe <<'R'
format: 1
recipe: a
experiments:
  all: { plugin: ./speed.plugin, sweep: { workers: [1, 2, 4], mode: [weak, strong] } }
  noisy: { plugin: ./noisy.plugin }
report:
  - { question: "1", title: Line, plot: { x: workers, y: rate, ideal: true, where: mode = weak } }
  - { question: "2", title: Lines, plot: { x: workers, y: rate, by: mode } }
  - { question: "3", title: Many lines, plot: { x: epoch, y: loss, by: [workers, mode] } }
  - { question: "4", title: Bars, plot: { x: mode, y: rate, where: workers = 2 } }
  - { question: "5", title: Few cells, table: { rows: [workers, mode], value: [last rate, last share], where: mode = strong } }
  - { question: "6", title: Many cells, table: { rows: workers, columns: mode, value: last rate } }
  - { question: "7", title: None, table: { rows: workers, value: last rate, where: workers = 8 } }
  - { question: "9", title: Holds, table: { rows: workers, value: last rate, at_most: 300, verdict: the rate is modest, where: mode = strong } }
  - { question: "9", title: Both, table: { rows: workers, value: last rate, at_most: 300, verdict: the rate is modest, where: mode = strong and workers > 1 } }
  - { question: "10", title: Fails, table: { rows: workers, value: last rate, at_most: 299, verdict: the rate is modest, where: mode = strong } }
  - { question: "11", title: Once, plot: { x: workers, y: rate, where: mode = weak } }
  - { question: "11", title: Again, plot: { x: workers, y: rate, where: mode = weak } }
  - { question: "12", title: Scatter, plot: { x: epoch, y: noise, experiments: noisy } }
  - { question: "12", title: Trend, plot: { x: epoch, y: trend, experiments: noisy } }
  - { question: "12", title: Long, plot: { x: epoch, y: [location_part_of_the_loss, class_part_of_the_loss], experiments: noisy } }
  - { question: "8", title: Heat, plot: { kind: heat, x: workers, y: mode, z: last rate } }
R
ok orch report a.recipe --json
has_not '"answer"'
ok orch run a.recipe -q
ok orch report a.recipe --json
python3 - "$SCRATCH/out" <<'P' || _fail 'the answers'
import json, sys
said = {}
for section in json.load(open(sys.argv[1]))["sections"]:
    kinds = [block["kind"] for block in section["blocks"]]
    assert "answer" not in kinds[1:], (section["title"], kinds)
    if "answer" in kinds:
        said[section["title"]] = section["blocks"][0]["text"]
want = {
    "Line": "rate rises from 100 images/s (workers 1) to 400 images/s (workers 4), a factor of 4, where the ideal is 400 images/s",
    "Lines": "rate: weak mode rises from 100 images/s (workers 1) to 400 images/s (workers 4), a factor of 4; "
             "strong mode rises from 75 images/s (workers 1) to 300 images/s (workers 4), a factor of 4",
    "Bars": "rate: 200 images/s (weak), 150 images/s (strong)",
    "Few cells": "rate: 75 images/s (workers 1), 150 images/s (workers 2), 300 images/s (workers 4); share: 0.5000 in all 3 settings",
    "Many cells": "rate: weak mode with 100 images/s (workers 1), 200 images/s (workers 2), 400 images/s (workers 4); "
                  "strong mode with 75 images/s (workers 1), 150 images/s (workers 2), 300 images/s (workers 4)",
    "Heat": "rate: lowest 75 images/s (1, strong), highest 400 images/s (4, weak), of 6 settings",
}
for title, text in want.items():
    assert said.get(title) == text, (title, said.get(title))
assert said["Holds"].startswith("the rate is modest in all 3 settings; rate: 75 images/s"), said["Holds"]
assert said["Both"].startswith("the rate is modest in both settings; rate: "), said["Both"]
assert said["Fails"].startswith("the rate is modest in 2 of 3 settings, not in workers 4; rate: 75 images/s"), said["Fails"]
assert said["Scatter"] == "noise shows no rise or fall beyond its noise: median 72 %, middle half 52 to 92 % of 40 values", said["Scatter"]
assert said["Trend"].startswith("trend rises from 140 % (epoch 1)"), said["Trend"]
assert said["Once"].startswith("rate rises from"), said
again, = (s for s in json.load(open(sys.argv[1]))["sections"] if s["title"] == "Again")
assert [b["kind"] for b in again["blocks"]] == ["note"] and again["blocks"][0]["text"] == "this chart is shown at 'Once'", again["blocks"]
many = said["Many lines"]
assert many.startswith("loss at epoch 3: lowest 0.3333 (") and "workers 1" in many and "highest 1.333 (" in many, many
assert many.endswith(", of 6 settings"), many
assert "None" not in said, said
P
ok orch report a.recipe --only 1
same "$(printf '%s\n' "$out" | grep -A1 '^1  Line' | tail -n 1 | cut -c 1-12)" '  rate rises'
ok orch report a.recipe --html a.html
grep -q '<p class="answer">rate rises from 100' a.html || _fail 'the answer on the page'
# beside the axis of many values stands the word with which all end
ok orch report a.recipe --only 12
has '
  loss
'
