# The sentences of a report have the words of its readers: settings by name, tables by column or by their first axis, all values of a
# table with one row, labels of the recipe, the columns of a listing, nouns for its rows, and a speedup for each column.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
cat >train.py <<'P'
import json, sys
net, workers, lr, repeat = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])
size = {"small": 1, "middle": 2, "large": 4}[net]
print(json.dumps({"images_per_s": 100 * workers / size + repeat, "val_acc": 0.5 + 0.1 * size * lr, "conv_params": 12000 * size, "epoch_time_s": (size * 10 + 0.1 * repeat) / workers,
                  "image_channels": 1, "train_images": 500, "share": 0.25, "solved": int(repeat != 2)}))
open("rows.csv", "w").write("class,images,AP before (VOC 2007),AP (VOC 2007)\n" + "".join(f"kind {i},{10 + i},0.0{i},0.{i}\n" for i in range(1, 6)))
P
cat >train.plugin <<'Y'
command: [python3, train.py, "${net}", "${workers}", "${lr}", "${repeat}"]
parameters: { net: { type: string, default: small }, workers: { type: int, default: 1 }, lr: { type: real, default: 1, label: learning rate }, pinned: { type: bool, default: true } }
metrics:
  images_per_s: { better: max, unit: images/s, label: images per second }
  val_acc: { better: max, label: validation accuracy }
  conv_params: { better: none, label: convolution parameters }
  epoch_time_s: { better: min, unit: s }
  image_channels: { better: none, unit: channels }
  train_images: { better: none, unit: images, label: training images }
  share: { better: none }
  solved: { better: max }
artifacts: { rows: { path: rows.csv } }
Y
cat >a.recipe <<'R'
format: 1
recipe: a
experiments:
  all: { plugin: ./train.plugin, sweep: { net: [small, middle, large], workers: [1, 2, 4, 8] }, repeat: 5 }
  rates: { plugin: ./train.plugin, sweep: { lr: [0.1, 1], pinned: [true, false] }, repeat: 5 }
report:
  - { title: Columns, table: { rows: workers, columns: net, value: conv_params, experiments: all } }
  - { title: Rows, table: { rows: [net, workers], value: [conv_params, images_per_s], experiments: all } }
  - { title: Six, table: { rows: [net, workers], value: [images_per_s, val_acc], experiments: all, where: "workers < 3" } }
  - { title: Two, table: { rows: workers, value: epoch_time_s, experiments: all, where: "net = small and (workers = 1 or workers = 8)" } }
  - { title: One row, table: { rows: net, value: [image_channels, train_images, share, val_acc, conv_params], experiments: all, where: "net = small and workers = 1" } }
  - { title: Labels, table: { rows: net, value: [share, conv_params], labels: [share of it all, "a: b"], experiments: all, where: "net = small and workers = 1" } }
  - { title: Deviation, table: { rows: net, value: images_per_s, deviation: true, experiments: all, where: "workers = 1" } }
  - { title: Solved, table: { rows: net, value: solved, experiments: all, where: "net = small and workers = 1" } }
  - { title: Winner, best: { value: val_acc, by: [lr, pinned], experiments: rates, where: "pinned = true" } }
  - { title: Against, compare: { value: val_acc, by: lr, best_of: pinned, experiments: rates } }
  - { title: Bars, plot: { kind: bar, x: lr, y: val_acc, by: pinned, experiments: rates } }
  - { title: Listing, listing: { artifact: rows, answer: [class, images], by: net, experiments: all, where: "workers = 1 and net != large" } }
  - { title: Drawn, listing: { artifact: rows, bars: images, experiments: rates } }
  - { title: Remark, listing: { artifact: rows, bars: AP (VOC 2007), experiments: rates } }
  - { title: Sides, listing: { artifact: rows, answer: [class, AP (VOC 2007)], bars: [AP before (VOC 2007), AP (VOC 2007)], experiments: rates } }
  - { title: Speedup, speedup: { value: epoch_time_s, by: net, columns: [speedup, increase], experiments: all, where: "net != large and workers < 8" } }
  - { title: Work, work: { formula: "per_worker = images_per_s / workers", by: [net, workers], experiments: all, where: "net = small and workers < 3" } }
R
ok orch run a.recipe -q
ok orch report a.recipe --disturbed --json
python3 - "$SCRATCH/out" <<'P' || _fail 'the answers'
import json, re, sys
said = {}
for section in json.load(open(sys.argv[1]))["sections"]:
    blocks = section["blocks"]
    if section["title"] == "Sides":  # its numbers once, and an axis that says of what
        assert [b["kind"] for b in blocks].count("answer") == 1, blocks
        assert [b["chart"]["y"] for b in blocks if b.get("chart")] == ["AP (VOC 2007)"], blocks
    said[section["title"]] = blocks[0]["text"].replace("\n", " ") if blocks and blocks[0]["kind"] == "answer" else None
want = {
    "Columns": "Convolution parameters, small: 12,000 in each of 4 settings. Convolution parameters, middle: 24,000 in each of 4 settings. Convolution parameters, large: 48,000 in each of 4 settings",
    "Rows": "Convolution parameters, small: 12,000 in each of 4 settings. Convolution parameters, middle: 24,000 in each of 4 settings. Convolution parameters, large: 48,000 in each of 4 settings",
    "Two": "Epoch time: from 10.30 s (95 % interval 10.11 to 10.50) for 1 worker to 1.288 s (1.263 to 1.312) for 8 workers. The last value is 0.125 times the first",
    "One row": "Image channels: 1 for small. Training images: 500. Share: 0.2500. Validation accuracy: 0.6000. Convolution parameters: 12,000",
    "Labels": "Share of it all: 0.2500 for small. Convolution parameters: 12,000",
    "Deviation": "Images per second: 103.0 images/s (95 % interval 101.1 to 105.0), standard deviation 1.581 of 5 runs for small; 53.0 images/s (51.1 to 55.0), "
                 "standard deviation 1.581 of 5 runs for middle; and 28.0 images/s (26.1 to 30.0), standard deviation 1.581 of 5 runs for large",
    "Winner": r"Best of 2 settings: learning rate 1\. Its validation accuracy is 0\.6000.*",
    "Against": r"The baseline, learning rate 0.1 \(best: pinned true\), has validation accuracy 0.5100\. .*: learning rate 1 \(best: pinned true\), by \+0\.09.*",
    "Bars": "Validation accuracy: the lowest of 4 settings is 0.5100 for 0.1, pinned true. The highest is 0.6000 for 1, pinned true",
    "Listing": "Images, small: the lowest of 5 classes is 11 for kind 1. The highest is 15 for kind 5. "
               "Images, middle: the lowest of 5 classes is 11 for kind 1. The highest is 15 for kind 5",
    "Drawn": "Images: the lowest of 5 classes is 11 for kind 1. The highest is 15 for kind 5",
    "Remark": "AP (VOC 2007): the lowest of 5 classes is 0.1000 for kind 1. The highest is 0.5000 for kind 5",
    "Speedup": "Small, 4 workers: speedup 4.000 (95 % interval 3.911 to 4.091), where 4 is ideal; increase -75.00 % (-75.55 to -74.43). "
               "Middle, 4 workers: speedup 4.000 (95 % interval 3.955 to 4.046), where 4 is ideal; increase -75.00 % (-75.28 to -74.71)",
    "Work": "Per worker: 103.0 (95 % interval 101.0 to 105.0) for small with 1 worker and 101.50 (100.52 to 102.48) for small with 2 workers",
}
for title, text in want.items():
    assert said.get(title) == text or re.fullmatch(text, said.get(title) or ""), (title, said.get(title))
assert said["Six"].count("images/s (") == 6 and ". Images per second, large: from " in said["Six"] and "accuracy" not in said["Six"], said["Six"]
low, high = re.fullmatch(r"Solved: 0\.80\d* \(95 % interval (\S+) to (\S+)\) for small", said["Solved"]).groups()
assert 0 < float(low) < 0.8 < float(high) < 1, said["Solved"] # no share beyond 1
P
# tests/answers.py knows the numbers of these sentences, and finds others
if /usr/bin/python3 -c 'import scipy, yaml' 2>/dev/null; then
    answers="/usr/bin/python3 $SOURCE/tests/answers.py"
    ok $answers a.recipe --disturbed
    has ' 0 differ; sections not recomputed: none'
    mkdir other
    cat >other/orch <<'P'
#!/usr/bin/python3
import json, os, subprocess, sys
done = subprocess.run([os.environ["ORCH_REAL"], *sys.argv[1:]], capture_output=True)
text = done.stdout.decode()
if sys.argv[1] == "report":
    for a, b in (("Images per second: 103.0 images", "Images per second: 104.0 images"), ("speedup 4.000 (95 % interval 3.911", "speedup 4.321 (95 % interval 3.456"), ("0.125 times", "0.15 times"), ("12,000", "12,001")):
        text = text.replace(a, b)
sys.stdout.write(text)
sys.exit(done.returncode)
P
    chmod +x other/orch
    ORCH_REAL=$(command -v orch) fails 1 $answers --orch "$PWD/other/orch" a.recipe --disturbed
    for title in Deviation Speedup Two Columns; do
        has " $title: sentence: shown "
    done
fi
# what an earlier section of the same question has said is not said again
cat >b.recipe <<'R'
format: 1
recipe: b
experiments:
  all: { plugin: ./train.plugin, sweep: { net: [small, middle, large], workers: [1, 2, 4, 8] }, repeat: 5 }
report:
  - { question: "1", title: First, table: { rows: net, value: [conv_params, share], experiments: all, where: "workers = 1" } }
  - { question: "1", title: Again, table: { rows: net, value: conv_params, experiments: all, where: "workers = 1" } }
  - { question: "1", title: More, table: { rows: net, value: [share, train_images], experiments: all, where: "workers = 1" } }
  - { question: "2", title: Other, table: { rows: net, value: conv_params, experiments: all, where: "workers = 1" } }
  - { question: "2", title: Curve, speedup: { value: epoch_time_s, by: net, columns: [computing], experiments: all } }
R
ok orch run b.recipe -q
ok orch report b.recipe --disturbed --json
python3 - "$SCRATCH/out" <<'P' || _fail 'answers that are repeated'
import json, sys
sections = {s["title"]: s["blocks"] for s in json.load(open(sys.argv[1]))["sections"]}
has = {title: bool(blocks) and blocks[0]["kind"] == "answer" for title, blocks in sections.items() if title != "Method"}
assert has == {"First": True, "Again": False, "More": True, "Other": True, "Curve": True}, has
chart = next(b["chart"] for b in sections["Curve"] if "chart" in b)
assert chart["y"] == "computing (s)", chart
P
# no worker is a half: the ticks below two numbers of workers are these, and a formula that is its header is not said
cat >d.recipe <<'R'
format: 1
recipe: d
experiments:
  all: { plugin: ./train.plugin, sweep: { workers: [1, 2] }, repeat: 5 }
report:
  - { title: Two, speedup: { value: epoch_time_s, columns: [ratio, increase] } }
R
ok orch run d.recipe -q
ok orch report d.recipe --disturbed
has_not '  1.0  '
has 'increase (%) = 100 (t(n) / t(1) - 1) %'
has_not 't(n)/t(1) = '
# a curve that rises and then falls has its peak in the sentence, and one that does not has none
cat >c.recipe <<'R'
format: 1
recipe: c
experiments:
  all: { plugin: ./hill.plugin, sweep: { k: [1, 2, 3, 4] } }
report:
  - { title: Hill, plot: { x: k, y: [hill, slope] } }
R
cat >hill.plugin <<'Y'
command: [sh, hill.sh, "${k}"]
parameters: { k: { type: int, default: 1 } }
metrics: { hill: { better: max }, slope: { better: max } }
Y
echo 'echo "{\"hill\": 0.$((10 + 40 * $1 - 10 * $1 * $1)), \"slope\": $1}"' >hill.sh
ok orch run c.recipe -q
ok orch report c.recipe
has '  Hill rises from 0.4000 at k 1 to 0.5000 at k 2, then falls to 0.1000 at k 4.'
has '  Slope rises from 1 at k 1 to 4 at k 4. The last value is 4 times the first'
# of repeats only what is more than noise is a rise or a fall: tops, ends and a shift that all seeds share
cat >n.recipe <<'R'
format: 1
recipe: n
experiments:
  all: { plugin: ./noise.plugin, sweep: { k: [1, 2, 3] }, repeat: 4 }
report:
  - { title: Noise, plot: { x: k, y: flat } }
  - { title: Top, plot: { x: k, y: top } }
  - { title: Late, plot: { x: k, y: late } }
  - { title: Shared, plot: { x: k, y: shared } }
  - { title: Ends, table: { rows: k, value: [flat, top], where: k = 1 or k = 3 } }
R
cat >noise.plugin <<'Y'
command: [sh, noise.sh, "${k}", "${repeat}"]
parameters: { k: { type: int, default: 1 } }
metrics: { flat: { better: none }, top: { better: none }, late: { better: none }, shared: { better: none } }
Y
cat >noise.sh <<'S'
awk -v k="$1" -v r="$2" 'BEGIN { n = substr(k == 1 ? "4130" : k == 2 ? "1403" : "3014", r, 1)
    printf "{\"flat\": %g, \"top\": %g, \"late\": %g, \"shared\": %g}\n", 50 + 2 * n + k / 2, (k == 2 ? 90 : 50 - 9 * k) + n, (k == 3 ? 20 : 50 + k) + n, 100 * r + k + n / 10 }'
S
ok orch run n.recipe -q
ok orch report n.recipe
printf '%s\n' "$out" | grep -Eq '^  Flat is [0-9.]+ at k 1 and [0-9.]+ at k 3, which differ by no more than noise\. At k 1, the 4 repeats range from [0-9.]+ to [0-9.]+\. At k 3, the 4 repeats range from [0-9.]+ to [0-9.]+$' || _fail 'noise'
printf '%s\n' "$out" | grep -Eq '^  Flat: from [0-9.]+ .* for k 1 to [0-9.]+ .* for k 3, which differ by no more than noise\.$' || _fail 'noise in a table'
printf '%s\n' "$out" | grep -Eq '^  Top: from .* for k 3\. The last value is 0[0-9.]* times the first' || _fail 'a top in a table'
printf '%s\n' "$out" | grep -Eq '^  Top rises from [0-9.]+ at k 1 to [0-9.]+ at k 2, then falls to [0-9.]+ at k 3\. At k 1, ' || _fail 'a top'
printf '%s\n' "$out" | grep -Eq '^  Late is [0-9.]+ at k 1 and [0-9.]+ at k 2, the highest value, but by no more than noise, then falls to [0-9.]+ at k 3\. At k 1, ' || _fail 'a late fall'
printf '%s\n' "$out" | grep -Eq '^  Shared rises from [0-9.]+ at k 1 to [0-9.]+ at k 3\. The last value is [0-9.]+ times' || _fail 'what the seeds share'
# the tests behind them: both parts of a turn, of which the top was picked, and the ends
printf '%s\n' "$out" | grep -Eq '^  paired t-test .*: the value changes by \+[0-9.]+ \(95 % interval [0-9.]+ to [0-9.]+\) from k 1 to 2, p [<0-9.]+.*; the value changes by -[0-9.]+ \(95 % interval .* from k 2 to 3' || _fail 'the tests of a top'
printf '%s\n' "$out" | grep -Eq '^  paired t-test .*: the value changes by [+-]?[0-9.]+ \(95 % interval -[0-9.]+ to [0-9.]+\) from k 1 to 3, p 0[0-9.]*$' || _fail 'the test of noise'
has_not 'the same results in every run'
sed 's/y: flat/y: same/; s/flat/same/g' n.recipe >e.recipe
sed -i 's/flat/same/' noise.plugin
sed -i 's/"flat\\": %g/"same\\": %g/; s/50 + 2 \* n + k \/ 2,/(k > 1 ? r : n),/' noise.sh
ok orch run e.recipe -q
ok orch report e.recipe
has 'these settings gave the same results in every run: k 2 and 3'
# a value against one that the same runs had before: by 52, 54, 49 and 51, of which Student's t has the interval
echo "  - { title: Change, compare: { value: late, before: same, by: k, where: k = 2 } }" >>e.recipe
ok orch report e.recipe --json
python3 - "$SCRATCH/out" <<'P' || _fail 'before and after'
import json, re, sys
blocks = next(s for s in json.load(open(sys.argv[1]))["sections"] if s["title"] == "Change")["blocks"]
said = re.fullmatch(r"Late, compared with same of the same runs\. k 2: from 2.5 to 54, by \+(\S+) \(95 % interval (\S+) to (\S+)\), more than noise", blocks[0]["text"])
expected = 51.5, 51.5 - 3.182446 * (13 / 3 / 4) ** 0.5, 51.5 + 3.182446 * (13 / 3 / 4) ** 0.5
assert said and all(abs(float(a) - b) < 0.06 for a, b in zip(said.groups(), expected)), (blocks[0], expected)
assert any("Test: paired t test of 4 pairs of runs, p " in b.get("text", "") for b in blocks[1:]), blocks
P
# an interval without bounds is said: it is not an exact number
cat >u.recipe <<'R'
format: 1
recipe: u
experiments:
  all: { plugin: ./wild.plugin, sweep: { workers: [1, 2] }, repeat: 2 }
report:
  - { title: Wild, speedup: { value: took } }
R
cat >wild.plugin <<'Y'
command: [sh, wild.sh, "${workers}", "${repeat}"]
parameters: { workers: { type: int, default: 1 } }
metrics: { took: { better: min, unit: s } }
Y
echo 'case $1$2 in 11) t=1 ;; 12) t=9 ;; 21) t=5 ;; *) t=1 ;; esac; echo "{\"took\": $t}"' >wild.sh
ok orch run u.recipe -q
ok orch report u.recipe
has '2 workers: speedup 1.667 (95 % interval unbounded), where 2 is ideal'
printf '%s\n' "$out" | grep -Eq '^ +2 .* 1\.667 \[unbounded\]' || _fail 'no interval in the table'
# a noisy time of one worker bounds the speedup, though not its inverse
sed -i 's/21) t=5 ;; \*) t=1/21) t=3 ;; *) t=3.1/' wild.sh
ok orch run u.recipe --force -q
ok orch report u.recipe
has_not unbounded
printf '%s\n' "$out" | grep -Eq '2 workers: speedup [0-9.]+ \(95 % interval -[0-9.]+ to [0-9.]+\)' || _fail 'an interval below 0'
