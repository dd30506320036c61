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
        answer = section["blocks"][0]["text"]
        assert section["title"] != "Lines" or answer.split("\n")[1].startswith("Rate with strong mode rises"), answer  # a line each
        said[section["title"]] = answer.replace("\n", " ")
want = {
    "Line": "Rate rises from 100 images/s at 1 worker to 400 images/s at 4 workers. The last value is 4 times the first. The ideal at 4 workers is 400 images/s",
    "Lines": "Rate with weak mode rises from 100 images/s at 1 worker to 400 images/s at 4 workers. The last value is 4 times the first. "
             "Rate with strong mode rises from 75 images/s at 1 worker to 300 images/s at 4 workers. The last value is 4 times the first",
    "Bars": "Rate: 200 images/s for weak and 150 images/s for strong",
    "Few cells": "Rate: 75 images/s for 1 worker, 150 images/s for 2 workers and 300 images/s for 4 workers. Share: 0.5000 in each of 3 settings",
    "Many cells": "Rate, weak mode: 100 images/s for 1 worker, 200 images/s for 2 workers and 400 images/s for 4 workers. "
                  "Rate, strong mode: 75 images/s for 1 worker, 150 images/s for 2 workers and 300 images/s for 4 workers",
    "Heat": "Rate: the lowest of 6 settings is 75 images/s for 1, strong. The highest is 400 images/s for 4, weak",
}
for title, text in want.items():
    assert said.get(title) == text, (title, said.get(title))
assert said["Holds"].startswith("The rate is modest in all 3 settings. Rate: 75 images/s"), said["Holds"]
assert said["Both"].startswith("The rate is modest in both settings. Rate: "), said["Both"]
assert said["Fails"].startswith("The rate is modest in 2 of 3 settings, not in 4 workers. Rate: 75 images/s"), said["Fails"]
assert said["Scatter"] == "Noise shows no rise or fall beyond its noise: median 72 %, the middle half from 52 to 92 % (40 values)", said["Scatter"]
assert said["Trend"].startswith("Trend rises from 140 % at epoch 1"), said["Trend"]
assert said["Once"].startswith("Rate rises from"), said
again, = (s for s in json.load(open(sys.argv[1]))["sections"] if s["title"] == "Again")
assert [b["kind"] for b in again["blocks"]] == ["note"] and again["blocks"][0]["text"] == "see the chart of 'Once', which is the same", again["blocks"]
many = said["Many lines"]
assert many.startswith("Loss at epoch 3: the lowest of 6 settings is 0.3333 for 1 worker, ") and ". The highest is 1.333 for 4 workers, " in many, many
assert "None" not in said, said
P
ok orch report a.recipe --only 1
same "$(printf '%s\n' "$out" | grep -A1 '^1  Line' | tail -n 1 | cut -c 1-12)" '  Rate rises'
ok orch report a.recipe --html a.html
grep -q '<p class="answer">Rate rises from 100' a.html || _fail 'the answer on the page'
# beside the axis of many values stands the word with which all end
ok orch report a.recipe --only 12
has '
  loss
'
