# Items that compare, tell times to a target, gains and PALEO's forecasts begin with their answer, in words and not in
# names of metrics.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
cat >train.py <<'P'
import json, random, sys
mode, seed = sys.argv[1], int(sys.argv[2])
at = {"plain": 0.5, "good": 0.7, "bad": 0.2, "same": 0.5}[mode]
noise = random.Random(f"{mode} {seed}").uniform(-0.005, 0.005)
cost = {"plain": 10, "good": 20, "bad": 10, "same": 10}[mode] * (1 + 4 * noise)
reached = mode != "bad" or seed % 2 == 0
print(json.dumps({"final_accuracy": at + noise, "wall_seconds": cost, "reached_target": int(reached),
                  "throughput_images_per_second": 100 / cost, "guess": at * 1.1, **({"time_to_target_s": cost / 2} if reached else {})}))
P
cat >train.plugin <<'Y'
command: [python3, train.py, "${mode}", "${seed}"]
parameters: { mode: { type: string, default: plain } }
metrics:
  final_accuracy: { better: max }
  wall_seconds: { better: min, unit: s }
  throughput_images_per_second: { better: max, unit: images/s }
  time_to_target_s: { better: min, unit: s }
  reached_target: { better: max }
  guess: { better: none }
Y
cat >a.recipe <<'R'
format: 1
recipe: a
experiments:
  all: { plugin: ./train.plugin, sweep: { mode: [plain, good, bad, same] }, repeat: 5 }
  one: { plugin: ./train.plugin, sweep: { mode: [plain, good] } }
report:
  - { title: Compare, compare: { value: final_accuracy, by: mode, baseline: plain, experiments: all } }
  - { title: Untested, compare: { value: wall_seconds, by: mode, baseline: plain, experiments: one } }
  - { title: Sides, compare: { predicted: guess, measured: final_accuracy, by: mode, experiments: one } }
  - { title: Gain, gain: { value: final_accuracy, cost: wall_seconds, by: mode, baseline: plain, experiments: all, where: "mode = plain or mode = good" } }
  - { title: Until, time_to_accuracy: { value: time_to_target_s, by: mode, experiments: all, where: "mode = plain or mode = bad" } }
  - { title: Best, best: { value: final_accuracy, by: mode, experiments: all } }
  - { title: Alone, best: { value: final_accuracy, by: mode, experiments: one } }
  - { title: Rates, plot: { kind: bar, x: mode, y: throughput_images_per_second, experiments: one } }
  - { title: Work, work: { formula: "images_each = throughput_images_per_second * wall_seconds", by: mode, experiments: one } }
  - { title: Paleo, paleo: { nets: [vgg16], gpu: "paleo:K80", batch: 1 } }
  - { title: Peak, paleo: { nets: [vgg16], gpu: "paleo:K80", batch: 1, peak_tflops: 8.74 } }
R
ok orch run a.recipe -q
ok orch report a.recipe --disturbed --json
python3 - "$SCRATCH/out" <<'P' || _fail 'the answers'
import json, re, sys
said = {}
for section in json.load(open(sys.argv[1]))["sections"]:
    kinds = [block["kind"] for block in section["blocks"]]
    assert not section["title"] or kinds.count("answer") == 1 and kinds[0] == "answer", (section["title"], kinds)
    said[section["title"]] = section["blocks"][0]["text"]
NUMBER, INTERVAL = r"-?[\d.]+", r"\((?:95 % interval )?-?[\d.]+ to -?[\d.]+\)"
want = {
    "Compare": rf"The baseline, plain mode, has final accuracy 0\.[45]\d*\. Better than the baseline: good mode, by \+0\.[12]\d* {INTERVAL}\. "
               rf"Worse than the baseline: bad mode, by -0\.[23]\d* {INTERVAL}\. Not clearly different from the baseline: same mode, by \+?{NUMBER} {INTERVAL}",
    "Untested": rf"The baseline, plain mode, has wall time {NUMBER} s\. Not tested: good mode, which differs by \+{NUMBER} s",
    "Sides": rf"The mean error of 2 predictions is {NUMBER} %\. The largest error is \+{NUMBER} %, for \w+",
    "Gain": rf"Gain in final accuracy for each additional % of wall time, compared with plain: 0\.00[12]\d* {INTERVAL} for good",
    "Until": rf"Median time to target: {NUMBER} s for plain mode \(5 of 5 runs reached the target, coefficient of variation {NUMBER} % with 95 % interval {NUMBER} % to {NUMBER} %\)(; and .*)?",
    "Best": rf"Best of 4 settings: good mode\. Its final accuracy is 0\.[67].*",
    "Alone": rf"Best of 2 settings: good mode\. Its final accuracy is 0\.[67]\d*\. It is better than plain mode, by 0\.[12]\d*, without a test for noise",
    "Rates": rf"Throughput: {NUMBER} images/s for plain and {NUMBER} images/s for good",
    "Work": r"Images each: 100(\.0+)? in both settings",
    "Paleo": r"Throughput that PALEO predicts: 146.2 images/s for vgg16\. Time of a forward pass of 1 image: 6.841 ms for vgg16",
    "Peak": r"Practical throughput as a share of the throughput at the peak \([\d.]+ TFLOP/s\), with a multiply-add counted as 1 operation: 25.93 % for vgg16\. The same with a multiply-add counted as 2 operations: 51.80 % for vgg16",
}
for title, pattern in want.items():
    assert re.fullmatch(pattern, said[title]), (title, said[title])
P
