# tests/answers.py recomputes calculations, tables and pictures that runs left, quotients, contrasts at the best setting, errors of
# predictions, turned tables, facets and speed models, and finds numbers that differ in each.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
/usr/bin/python3 -c 'import scipy, yaml' 2>/dev/null || skip 'SciPy or PyYAML is not installed (python3-scipy, python3-yaml)'
cat >train.py <<'P'
import random, struct, sys, zlib
mode, lr, servers, workers, seed = sys.argv[1], float(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5])
rng = random.Random(f"{mode} {lr} {servers} {workers} {seed}")
noise = lambda: rng.uniform(0.97, 1.03)
cost = {"plain": 10, "good": 25}[mode] * noise()
print('{"quality": %r, "cost": %r, "guess": %r, "rate": %r}' %
      ({"plain": 0.5, "good": 0.7}[mode] * (1 - 0.1 * lr) * noise(), cost, 40 * noise(),
       noise() * workers / (0.01 + 0.02 * workers / servers + 0.001 * workers)))
for epoch in range(1, 6):
    print('{"step": %d, "loss": %r, "val_loss": %r}' % (epoch, noise() / epoch, noise() / epoch + 0.1))
open("rows.csv", "w").write("layer,ms\n" + "".join(f"layer {i},{noise():.4f}\n" for i in range(3)))
chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
open("p.png", "wb").write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)) +
                          chunk(b"IDAT", zlib.compress(b"\0\x80")) + chunk(b"IEND", b""))
P
cat >train.plugin <<'Y'
command: [python3, train.py, "${mode}", "${lr}", "${servers}", "${workers}", "${seed}"]
parameters:
  mode: { type: string, default: plain }
  lr: { type: real, default: 1 }
  servers: { type: int, default: 1 }
  workers: { type: int, default: 1 }
metrics:
  quality: { better: max }
  cost: { better: min }
  guess: { better: none }
  rate: { better: max, unit: steps/s }
  loss: { better: min, step: epoch }
  val_loss: { better: min, step: epoch }
artifacts: { rows: { path: rows.csv }, picture: { path: p.png } }
Y
cat >a.recipe <<'R'
format: 1
recipe: a
experiments:
  modes: { plugin: ./train.plugin, sweep: { mode: [plain, good], lr: [0.5, 1] }, repeat: 5 }
  samples: { plugin: ./train.plugin, sweep: { servers: [1, 2, 3], workers: [1, 2, 3] } }
report:
  - { title: Work, work: { formula: "product = quality * cost + lr", by: [mode, lr], experiments: modes } }
  - { title: Listing, listing: { artifact: rows, by: mode, experiments: modes } }
  - { title: Pictures, images: { artifact: picture, by: mode, experiments: modes } }
  - { title: Gain, gain: { value: quality, cost: cost, by: mode, baseline: plain, experiments: modes, where: "lr = 1" } }
  - { title: Best of, compare: { value: quality, by: mode, best_of: lr, baseline: plain, experiments: modes } }
  - { title: Sides, compare: { predicted: guess, measured: cost, by: mode, experiments: modes } }
  - { title: Turned, table: { rows: mode, value: [quality, cost], labels: [first, second], experiments: modes } }
  - { title: Facets, plot: { x: epoch, y: loss, by: mode, facet: lr, experiments: modes } }
  - { title: Two lines, plot: { x: epoch, y: [loss, val_loss], experiments: modes, where: "mode = good" } }
  - { title: Speed, speed_model: { value: rate, experiments: samples } }
R
ok orch run a.recipe -q
answers="/usr/bin/python3 $ORCH_SOURCE_DIR/tests/answers.py"
ok $answers a.recipe
has ' 0 differ; sections not recomputed: none'
count=$(printf '%s\n' "$out" | sed -n 's/ numbers recomputed.*//p')
[ "$count" -ge 100 ] || _fail "only $count numbers were recomputed"
# a program whose exported values and tables are not those of the report
mkdir other
cat >other/orch <<'P'
#!/usr/bin/python3
import json, os, subprocess, sys
done = subprocess.run([os.environ["ORCH_REAL"], *sys.argv[1:]], capture_output=True)
output = done.stdout
if sys.argv[1] == "show" and "-a" in sys.argv:
    output = output.replace(b"layer 1", b"layer one")
elif sys.argv[1] == "export" and not done.returncode and "--columns" not in sys.argv:
    rows = json.loads(output)
    for k, row in enumerate(rows):
        for name in [n for n in row if (n == "value" or n.startswith("result.")) and row[n] is not None]:
            row[name] *= 1 + 0.01 * (k % 3)
    output = json.dumps(rows).encode()
sys.stdout.buffer.write(output)
sys.exit(done.returncode)
P
chmod +x other/orch
ORCH_REAL=$(command -v orch) fails 1 $answers --orch "$PWD/other/orch" a.recipe
for title in Work Listing Gain 'Best of' Turned Facets 'Two lines' Speed; do
    has " $title: "
done
