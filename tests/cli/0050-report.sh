# A recipe's report: every kind of item from runs of a wrapped program whose numbers are known, some of them
# made by somebody else, some missing.
. "$(dirname "$0")/lib.sh"
mkdir exp
cat >exp/job.py <<'P'
import os, sys, zlib, struct
mode, lr, batch = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
repeat = int(os.environ["ORCH_REPEAT"])
score = {"full": 0.8, "feature": 0.6}[mode] + lr + 0.001 * repeat
for epoch in range(1, 4):
    print(f"step={epoch} accuracy={score * epoch / 3:.6f}")
print("final", score)
print("steps_per_s", 1.5)
print("images_per_s", 1.5 * batch)
print("guess", 1.65 * batch)
def chunk(kind, data): return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
open("samples.png", "wb").write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)) +
                                chunk(b"IDAT", zlib.compress(b"\0\x80")) + chunk(b"IEND", b""))
open("layers.csv", "w").write("layer,params,params_working\nfc1,110,10*10 + 10\nfc2,22,10*2 + 2\n")
P
cat >exp/job.plugin <<'Y'
plugin: job
version: 1.0.0
command: [python3, job.py, "${mode}", "${lr}", "${batch}"]
metrics_from: lines
parameters:
  mode: {type: string, default: full}
  lr: {type: real, default: 0.1}
  batch: {type: int, default: 64}
metrics:
  accuracy: {better: max, step: epoch}
  final: {better: max}
  steps_per_s: {unit: /s}
  images_per_s: {unit: images/s, better: max}
  guess: {unit: images/s}
artifacts:
  samples: samples.png
  layers: layers.csv
Y
cat >r.recipe <<'R'
format: 1
recipe: r
about: A report of every kind
profile: small
profiles: { small: { experiments: { huge: { skip: "needs a large machine" } } }, large: {} }
problems: { p1: [tune, feature], p2: [huge] }
experiments:
  tune: { plugin: exp/job.plugin, reuse: any, sweep: { lr: [0.01, 0.1] }, repeat: 2 }
  feature: { plugin: exp/job.plugin, reuse: any, with: { mode: feature }, sweep: { lr: [0.01, 0.1] }, repeat: 2 }
  huge: { plugin: exp/job.plugin, reuse: any, with: { batch: 4096 } }
report:
  - { question: 1.1, title: Intro, text: "Two ways of training." }
  - { question: 1.1a, title: Final, points: 4, table: { rows: lr, columns: experiment, value: [result final, best accuracy], experiments: [tune, feature] } }
  - { question: 1.1a, title: Values, table: { rows: [experiment, lr], value: [result final, result images_per_s], experiments: [tune, feature], where: "lr < 0.05" } }
  - { question: 1.1b, title: Winner, points: 2, best: { value: result final, by: [experiment, lr], experiments: [tune, feature] } }
  - { question: 1.1b, title: Against, compare: { value: result final, by: experiment, best_of: lr, baseline: feature, experiments: [feature, tune] } }
  - { question: 1.2, title: Speed, compare: { predicted: result guess, measured: result images_per_s, by: experiment, experiments: [tune] } }
  - { question: 1.2, title: Modes, compare: { predicted: tune, measured: feature, value: result final, by: lr } }
  - { question: 1.3, title: Cells, coverage: }
  - { question: 1.3, title: Working, work: { formula: "images_per_s = batch * steps_per_s", by: experiment, experiments: [tune, feature] } }
  - { question: 1.3, title: Layers, work: { by: experiment, experiments: [tune] } }
  - { question: 1.4, title: Pictures, images: { artifact: samples, by: lr, experiments: [tune] } }
  - { question: 1.5, title: Why, points: 3, student: }
  - { question: 2.1, title: Large, points: 5, table: { rows: batch, value: result final, experiments: [huge] } }
R
git add -A; git commit -qm first
ok orch check r.recipe
# nothing was run: every cell is there as missing, with what to run
ok orch report r.recipe --only 1.1a
has 'missing: 8 of 8 trials are not run'; has 'to have it: orch run r.recipe tune feature'
ok orch run r.recipe tune -q
ORCH_USER=bob ok orch run r.recipe feature -x lr=0.01 -q
ok orch report r.recipe --runs
