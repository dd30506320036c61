#!/usr/bin/env bash
# Imported runs keep the tracker's values: infinities, texts of digits, distinct names, resumed series, hyperparameters.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
points() { # points NAME: its points in the run that was added last
    python3 -c '
import sqlite3, sys
db = sqlite3.connect(".orch/results.db")
run = db.execute("SELECT max(id) FROM run").fetchone()[0]
print(*["%d:%s" % (s, "nan" if v is None else "%g" % v) for s, v in db.execute("SELECT m.step, m.value FROM metric m JOIN metric_name n ON n.id = m.name_id"
      " WHERE m.run = ? AND n.name = ? ORDER BY m.step", (run, sys.argv[1]))])' "$1"
}
params() { python3 -c '
import sqlite3
db = sqlite3.connect(".orch/results.db")
run = db.execute("SELECT max(id) FROM run").fetchone()[0]
print(*["%s=%s" % row for row in db.execute("SELECT name, value FROM param WHERE run = ? ORDER BY name", (run,))])'; }

# MLflow: the file store, an experiment's folder and one run's folder
run=mlruns/105667358367797464/6eb3f67d12fd4e9289ea4f680a4b3d9a
mkdir -p $run/params $run/metrics
printf "artifact_location: file:///x\nexperiment_id: '105667358367797464'\nlifecycle_stage: active\nname: exp\n" >mlruns/105667358367797464/meta.yaml
printf "run_id: 6eb3f67d12fd4e9289ea4f680a4b3d9a\nexperiment_id: '105667358367797464'\nlifecycle_stage: active\nrun_name: r\nstatus: 3\nuser_id: t\nstart_time: 1700000000000\nend_time: 1700000001000\n" >$run/meta.yaml
put() { printf '%s' "$2" >"$run/params/$1"; }
put zip 00123
put version 1.10
put big 12345678901234567890
put under 1_000
put commit 72225e2
put plus +5
put lr 0.1
put small 1e-05
put one 1.0
put count 64
put flag True
put minus -3
printf '1700000000100 1.0 0\n1700000000101 inf 1\n1700000000102 -inf 2\n1700000000103 nan 3\n1700000000104 Infinity 4\n' >$run/metrics/loss
printf '1700000000100 1.0 0\n' >"$run/metrics/val loss"
printf '1700000000100 2.0 0\n' >$run/metrics/val_loss
ok orch import --runs mlruns
same "$(points loss)" '0:1 1:inf 2:-inf 3:nan 4:inf'
same "$(params)" 'big="12345678901234567890" commit="72225e2" count=64 flag=true lr=0.1 minus=-3 one=1.0 plus="+5" small=1e-05 under="1_000" version="1.10" zip="00123"'
same "$(points val_loss) $(points val_loss_2)" '0:2 0:1'
says "its metric 'val loss' is stored as 'val_loss_2': the name 'val_loss' is taken"
ok orch import --runs mlruns/105667358367797464
says '0 runs added, 1 already in the store'
ok orch import --runs $run
says '0 runs added, 1 already in the store'
ok orch ls --where 'loss = inf' --json
same "$(json runs.#)" 1 'runs whose last loss is infinite'
ok orch ls --where 'loss > 1e300 and loss != -inf' --json
same "$(json runs.#)" 1
ok orch ls --where 'loss = -inf' --json
same "$(json runs.#)" 0

# MLflow's database keeps an infinity as the largest double
python3 - <<'P'
import sqlite3
db = sqlite3.connect("mlflow.db")
db.executescript("CREATE TABLE experiments(experiment_id INTEGER, name TEXT); CREATE TABLE runs(run_uuid TEXT, name TEXT, status TEXT, start_time BIGINT, end_time BIGINT, user_id TEXT, experiment_id INTEGER, lifecycle_stage TEXT);"
  "CREATE TABLE params(run_uuid TEXT, key TEXT, value TEXT); CREATE TABLE tags(run_uuid TEXT, key TEXT, value TEXT); CREATE TABLE metrics(run_uuid TEXT, key TEXT, value FLOAT, timestamp BIGINT, step BIGINT, is_nan BOOLEAN);")
db.execute("INSERT INTO experiments VALUES(1, 'exp')")
db.execute("INSERT INTO runs VALUES('a1', 'q', 'FINISHED', 1700000000000, 1700000001000, 't', 1, 'active')")
for step, value in enumerate((1.0, 1.7976931348623157e308, -1.7976931348623157e308)):
    db.execute("INSERT INTO metrics VALUES('a1', 'loss', ?, ?, ?, 0)", (value, 1700000000100 + step, step))
# a run with more metrics than a store takes, between two others
for name, count in (("many", 5000), ("few", 3)):
    db.execute("INSERT INTO runs VALUES(?, ?, 'FINISHED', 1700000002000, 1700000003000, 't', 1, 'active')", (name, name))
    db.executemany("INSERT INTO metrics VALUES(?, ?, 1.0, 1700000002100, 0, 0)", [(name, "m%d" % i) for i in range(count)])
db.commit()
P
ok orch import --runs mlflow.db
says '3 runs added'
says "run 'many': it has more than 4096 metrics"
ok orch ls --where 'run_name = q' --json
python3 - <<'P' || _fail 'the infinities of mlflow.db'
import sqlite3
db = sqlite3.connect(".orch/results.db")
rows = [v for v, in db.execute("SELECT m.value FROM metric m JOIN run r ON r.id = m.run JOIN metric_name n ON n.id = m.name_id WHERE r.build = 'a1' AND n.name = 'loss' ORDER BY step")]
raise SystemExit(rows != [1.0, float("inf"), float("-inf")])
P

# W&B's table: an infinity in a column of results is a result
printf '"Name","State","Created","lr","acc","loss","zip"\n"r","finished","2024-03-01T12:00:00.000Z","0.1","Infinity","-Infinity","00123"\n' >w.csv
ok orch import --runs w.csv --param lr --param zip
same "$(params)" 'lr=0.1 zip="00123"'
ok orch ls --where 'plugin = import:wandb and acc = inf and loss = -inf' --json
same "$(json runs.#)" 1

# TensorBoard: a resumed run with 'purge_step', and hyperparameters
python3 - <<'P'
import struct
def varint(n):
    out = b""
    while n > 127: out += bytes([n & 127 | 128]); n >>= 7
    return out + bytes([n])
def field(number, kind, value):
    key = varint(number << 3 | kind)
    return key + (varint(value) if kind == 0 else struct.pack("<d", value) if kind == 1 else struct.pack("<f", value) if kind == 5 else varint(len(value)) + value)
table = []
for i in range(256):
    for _ in range(8): i = i >> 1 ^ (0x82f63b78 if i & 1 else 0)
    table.append(i)
def crc(data):
    c = 0xffffffff
    for b in data: c = table[(c ^ b) & 255] ^ c >> 8
    c ^= 0xffffffff
    return ((c >> 15 | c << 17) + 0xa282ead8) & 0xffffffff
def frame(event):
    head = struct.pack("<Q", len(event))
    return head + struct.pack("<I", crc(head)) + event + struct.pack("<I", crc(event))
def event(step, more): return frame(field(1, 1, 1700000000.0 + step) + field(2, 0, step) + more)
def scalar(step, name, value): return event(step, field(5, 2, field(1, 2, field(1, 2, name) + field(2, 5, value))))
def start(step): return event(step, field(7, 2, field(1, 0, 1)))
import os
os.mkdir("tb")
with open("tb/events.out.tfevents.1.a", "wb") as f:
    f.write(start(0) + b"".join(scalar(i, b"loss", 10.0 + i) for i in range(6)))
with open("tb/events.out.tfevents.2.a", "wb") as f: # resumed with purge_step=3: steps 3 to 5 are thrown away
    f.write(start(3) + b"".join(scalar(i, b"loss", 100.0 + i) for i in range(3, 5)))
def hparam(name, value): return field(1, 2, field(1, 2, name) + field(2, 2, value))
def hparams(content): return event(0, field(5, 2, field(1, 2, field(1, 2, b"_hparams_/x") + field(9, 2, field(1, 2, field(1, 2, b"hparams") + field(2, 2, content))))))
os.mkdir("tb/hp")
with open("tb/hp/events.out.tfevents.3.a", "wb") as f:
    f.write(hparams(field(3, 2, hparam(b"lr", field(2, 1, 0.01)) + hparam(b"batch", field(2, 1, 32.0)) + hparam(b"opt", field(3, 2, b"adam")) + hparam(b"nesterov", field(4, 0, 1)))))
    f.write(scalar(0, b"acc", 0.5))
    f.write(hparams(field(4, 2, field(1, 0, 2))))
P
ok orch import --runs tb --json
same "$(json runs.0.points) $(json runs.1.params) $(json runs.1.state)" '5.0 4.0 failed'
same "$(params)" 'batch=32 lr=0.01 nesterov=true opt="adam"'
python3 - <<'P' || _fail 'the resumed series'
import sqlite3
db = sqlite3.connect(".orch/results.db")
rows = db.execute("SELECT m.step, m.value FROM metric m JOIN run r ON r.id = m.run WHERE r.plugin = 'import:tensorboard' AND r.build = '.' ORDER BY step").fetchall()
raise SystemExit(rows != [(0, 10), (1, 11), (2, 12), (3, 103), (4, 104)])
P
ok orch db check

# tables: tabs are read, a 'sep=,' line is skipped, semicolons are called by their name
printf 'gpu\tbatch\tstep_ms\nV100\t32\t1.5\n' >tab.csv
printf 'sep=,\ngpu,batch,step_ms\nV100,32,1.5\n' >sep.csv
printf 'gpu;batch;step_ms\nV100;32;1,5\n' >semi.csv
printf 'sep=;\ngpu;batch;step_ms\nV100;32;1,5\n' >sepsemi.csv
ok orch import tab.csv --target step_ms --source x --licence y
has "added measurements 'tab': 1 rows, target step_ms (ms), 2 features"
ok orch import sep.csv --target step_ms --source x --licence y
has "these 1 rows are there already"
for file in semi.csv sepsemi.csv; do
    fails 2 orch import $file --target step_ms
    says 'columns are separated by semicolons, not by commas'
done
sed 's/,/;/g' w.csv >w-semi.csv
fails 2 orch import --runs w-semi.csv
says 'columns are separated by semicolons, not by commas'
