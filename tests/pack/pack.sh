# SPDX-License-Identifier: GPL-3.0-or-later
# Sourced by tests of packs: a recipe of a wrapped program with every kind of item that needs no model, run by two
# people; and words to take a pack apart.
mkdir exp
cat >exp/job.py <<'P'
import os, sys, zlib, struct
mode, lr = sys.argv[1], float(sys.argv[2])
repeat = int(os.environ["ORCH_REPEAT"])
score = {"full": 0.8, "feature": 0.6}[mode] + lr + 0.001 * repeat
for epoch in range(1, 11):
    print(f"step={epoch} accuracy={score * epoch / 10:.6f}")
print("final", score)
print("images_per_s", 96)
print("guess", 105.6)
def chunk(kind, data): return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
open("samples.png", "wb").write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)) +
                                chunk(b"IDAT", zlib.compress(b"\0\x80")) + chunk(b"IEND", b""))
P
cat >exp/job.plugin <<'Y'
plugin: job
version: 1.0.0
command: [python3, job.py, "${mode}", "${lr}"]
metrics_from: lines
parameters:
  mode: {type: string, default: full}
  lr: {type: real, default: 0.1, label: learning rate}
metrics:
  accuracy: {better: max, step: epoch}
  final: {better: max}
  images_per_s: {unit: images/s, better: max}
  guess: {unit: images/s}
artifacts:
  samples: samples.png
Y
cat >r.recipe <<'R'
format: 1
recipe: r
about: A report of many kinds
problems: { p1: [tune, feature] }
experiments:
  tune: { plugin: exp/job.plugin, reuse: any, sweep: { lr: [0.01, 0.1] }, repeat: 2 }
  feature: { plugin: exp/job.plugin, reuse: any, with: { mode: feature }, sweep: { lr: [0.01, 0.1] }, repeat: 2 }
  later: { plugin: exp/job.plugin, reuse: any, with: { lr: 0.7 } }
report:
  - { question: 1.1, title: Intro, text: "Two ways of training." }
  - { question: 1.1a, title: Final, points: 4, table: { rows: lr, columns: experiment, value: [result final, best accuracy], experiments: [tune, feature] } }
  - { question: 1.1b, title: Winner, points: 2, best: { value: result final, by: [experiment, lr], experiments: [tune, feature] } }
  - { question: 1.1b, title: Against, compare: { value: result final, by: experiment, best_of: lr, baseline: feature, experiments: [feature, tune] } }
  - { question: 1.2, title: Speed, compare: { predicted: result guess, measured: result images_per_s, by: experiment, experiments: [tune] } }
  - { question: 1.3, title: By epoch, plot: { x: epoch, y: accuracy, by: lr, experiments: [tune] } }
  - { question: 1.4, title: Pictures, images: { artifact: samples, by: lr, experiments: [tune] } }
  - { question: 1.5, title: Why, points: 3, student: }
  - { question: 1.6, title: Not run, table: { rows: lr, value: result final, experiments: [later] } }
R
echo samples.png >.gitignore # what the program writes
git add -A
git commit -qm first
export ORCH_USER=ada
# retar IN OUT CODE: writes a pack again after CODE changed `files` (a list of [name, bytes]); get, put and edit (a
# JSON file, with its line of the list of files) help
retar() {
    python3 - "$@" <<'P'
import gzip, hashlib, io, json, sys, tarfile
source, target, code = sys.argv[1:]
files = []
with tarfile.open(source) as tar:
    for member in tar.getmembers():
        files.append([member.name, tar.extractfile(member).read()])
def get(start): return next(f for f in files if f[0].startswith(start))
def put(name, data): get(name)[1] = data
def pack(change):
    document = json.loads(get("pack.json")[1]); change(document); put("pack.json", json.dumps(document, indent=1).encode())
def relist():
    def change(document):
        for row in document["files"]:
            data = get(row["path"])[1]; row["bytes"] = len(data); row["sha256"] = hashlib.sha256(data).hexdigest()
    pack(change)
extra = []
exec(code)
with gzip.open(target, "wb") as out, tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
    for name, data in files:
        info = tarfile.TarInfo(name); info.size = len(data); tar.addfile(info, io.BytesIO(data))
    for info in extra: tar.addfile(info, io.BytesIO(b"x" * info.size) if info.size else None)
P
}
