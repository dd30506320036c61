# Charts of single runs and pictures begin with their answer: by how much y changes with x, where the middle half of a histogram
# and of each box lies, and what the pictures show, as the notes of their runs say.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
export PYTHONPATH=$SOURCE/share/python PYTHONDONTWRITEBYTECODE=1
cat >made.py <<'P'
import struct, sys, zlib
import orch
chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
with orch.start() as trial:
    p = trial.params
    size, repeat = p["size"], int(sys.argv[1])
    # repeats of a setting lie on both sides of its mean
    trial.result("divergence", 0.1 * size + (0.01 if repeat % 2 else -0.01))
    trial.result("accuracy", {"near": 0.9, "far": 0.7}[p["kind"]] - 0.02 * size + (0.004 if repeat % 2 else -0.004) + 0.001 * (size % 3))
    trial.result("time", 10 * size ** 2 + repeat)
    trial.result("flat", 2.5)
    open("p.png", "wb").write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)) +
                              chunk(b"IDAT", zlib.compress(b"\0\x80")) + chunk(b"IEND", b""))
    trial.artifact("picture", "p.png")
    trial.artifact("other", "p.png")
    trial.note("picture: 4 images each of Sandal and Bag" if p["kind"] == "near" else "picture: 1 image of Shirt")
P
cat >made.plugin <<'Y'
command: [python3, made.py, "${repeat}"]
metrics_from: protocol
parameters: { size: { type: int, default: 1 }, kind: { type: string, default: near } }
metrics:
  divergence: { better: none }
  accuracy: { better: max }
  time: { better: min, unit: s }
  flat: { better: none }
artifacts: { picture: { path: p.png }, other: { path: p.png } }
Y
cat >a.recipe <<'R'
format: 1
recipe: a
experiments:
  all: { plugin: ./made.plugin, sweep: { kind: [near, far], size: [1, 2, 3, 4, 5] }, repeat: 2 }
report:
  - { title: Slope, plot: { x: divergence, y: accuracy, by: kind, experiments: all } }
  - { title: One series, plot: { x: divergence, y: accuracy, by: experiment, where: kind = near } }
  - { title: Factor, plot: { x: size, y: time, by: experiment, kind: scatter, log_x: true, log_y: true } }
  - { title: Rate, plot: { x: time, y: divergence, by: experiment, where: kind = near } }
  - { title: Few, plot: { x: divergence, y: time, by: kind, where: size = 2 } }
  - { title: Histogram, plot: { kind: histogram, x: size, y: time, by: experiment } }
  - { title: Histograms, plot: { kind: histogram, x: size, y: accuracy, by: kind } }
  - { title: Many histograms, plot: { kind: histogram, x: kind, y: time, by: size } }
  - { title: Flat, plot: { kind: histogram, x: size, y: flat, by: experiment } }
  - { title: Boxes, plot: { kind: box, x: kind, y: time, by: experiment } }
  - { title: Many boxes, plot: { kind: box, x: size, y: time, by: experiment } }
  - { title: Pictures, images: { artifact: picture, by: kind } }
  - { title: One picture, images: { artifact: picture, by: kind, where: kind = near } }
  - { title: Untold, images: { artifact: other, by: kind } }
  - { title: Each run, images: { artifact: other } }
  - { title: None, images: { artifact: other, by: kind, where: size = 9 } }
R
ok orch run a.recipe -q
ok orch report a.recipe --disturbed --json
python3 - "$SCRATCH/out" <<'P' || _fail 'the answers'
import json, math, statistics, sys
said = {}
for section in json.load(open(sys.argv[1]))["sections"]:
    kinds = [block["kind"] for block in section["blocks"]]
    assert "answer" not in kinds[1:], (section["title"], kinds)
    said[section["title"]] = section["blocks"][0]["text"] if kinds[:1] == ["answer"] else None
# the same numbers, from what made.py computes; repeats 1 and 2 of a setting are one pair
size = [1, 2, 3, 4, 5]
x = [0.1 * s for s in size]
level = lambda y: [v - statistics.mean(y) for v in y]
y = {kind: [at - 0.02 * s + 0.001 * (s % 3) for s in size] for kind, at in (("near", 0.9), ("far", 0.7))}
def slope(x, series):
    xs, ys = [v for _ in series for v in level(x)], [v for s in series for v in level(s)]
    xx, xy, yy = sum(v * v for v in xs), sum(a * b for a, b in zip(xs, ys)), sum(v * v for v in ys)
    degrees = len(xs) - len(series) - 1
    t = {3: 3.1824463052842638, 7: 2.3646242510102993}[degrees]
    half = t * math.sqrt((yy - xy * xy / xx) / degrees / xx)
    return xy / xx, xy / xx - half, xy / xx + half
b, low, high = (v * 0.1 for v in slope(x, [y["near"], y["far"]]))
assert said["Slope"] == (f"Accuracy changes by {b:.5f} (95 % interval {low:.5f} to {high:.5f}) for each 0.1 of divergence, which is more than noise. "
                         "This is the slope of a line through 10 settings, the same slope for each of 2 series"), (said["Slope"], b, low, high)
b, low, high = (v * 0.1 for v in slope(x, [y["near"]]))
assert said["One series"] == f"Accuracy changes by {b:.5f} (95 % interval {low:.5f} to {high:.5f}) for each 0.1 of divergence, which is more than noise. This is the slope of a line through 5 settings", (said["One series"], b, low, high)
assert said["Factor"].startswith("Time changes by a factor of ") and " for each tenfold size, which is more than noise. This is the slope of a line through 10 settings" in said["Factor"], said["Factor"]
assert " for each 100 s of time, which is more than noise. This is the slope of a line through 5 settings" in said["Rate"], said["Rate"]
assert said["Few"] == "Time: 41.50 s in both settings", said["Few"]
assert said["Histogram"] == "Time of 20 runs: median 92 s, the middle half from 41 to 162 s, all from 11 to 252 s", said["Histogram"]
assert said["Histograms"].startswith("Accuracy of near kind, 10 runs: median 0."), said["Histograms"]
assert ". Accuracy of far kind, 10 runs: median 0." in said["Histograms"] and said["Histograms"].count("middle half") == 2, said["Histograms"]
assert said["Many histograms"] == "Median of time: the lowest of 5 settings is 11.50 s for size 1. The highest is 251.5 s for size 5", said["Many histograms"]
assert said["Flat"] == "Flat of 20 runs: 2.500, all equal", said["Flat"]
assert said["Boxes"] == "Time of near, 10 runs: median 92 s, the middle half from 41 to 162 s. Time of far, 10 runs: median 92 s, the middle half from 41 to 162 s", said["Boxes"]
assert said["Many boxes"] == "Median of time: the lowest of 5 settings is 11.50 s for 1. The highest is 251.5 s for 5", said["Many boxes"]
assert said["Pictures"] == "4 images each of Sandal and Bag (near). 1 image of Shirt (far)", said["Pictures"]
assert said["One picture"] == "4 images each of Sandal and Bag", said["One picture"]
assert said["Untold"] == "2 pictures, one for each kind: near, far", said["Untold"]
assert said["Each run"] == "20 pictures, one for each run", said["Each run"]
assert said["None"] is None, said["None"]
P
# and those that tests/answers.py computes, which finds others
/usr/bin/python3 -c 'import scipy, yaml' 2>/dev/null || exit 0
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
    for a, b in ((" changes by -0.0", " changes by -0.1"), ("median 92 s", "median 94 s"), ("highest is 251.5 s", "highest is 250.5 s"), ("20 pictures", "19 pictures")):
        text = text.replace(a, b)
sys.stdout.write(text)
sys.exit(done.returncode)
P
chmod +x other/orch
ORCH_REAL=$(command -v orch) fails 1 $answers --orch "$PWD/other/orch" a.recipe --disturbed
for title in Slope Histogram 'Many histograms' Boxes 'Many boxes' 'Each run'; do
    has " $title: "
done
