#!/usr/bin/env bash
# Runs of MLflow, W&B and TensorBoard become runs of the store: marked as imported, once, also from malicious files.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
D=$SOURCE/tests/data/runs
imported() { ok orch import --runs "$@" --json; }
# every (what, name, state, params, metrics, points) of the last stdout
rows() { python3 -c '
import json, sys
for r in json.load(sys.stdin)["runs"]:
    print(*(r[k] if not isinstance(r[k], float) else int(r[k]) for k in ("what", "name", "state", "params", "metrics", "points")))' <<<"$out"; }
values() { python3 -c '
import sqlite3, sys
db = sqlite3.connect(".orch/results.db")
print(*["%d:%s" % (s, "nan" if v is None else "%g" % v) for s, v in db.execute("SELECT m.step, m.value FROM metric m JOIN metric_name n ON n.id = m.name_id"
      " JOIN run r ON r.id = m.run WHERE r.key = ? AND n.name = ? ORDER BY m.step", sys.argv[1:])])' "$@"; }

imported "$D/mlruns" --dry-run
same "$(rows)" $'found bold-ape ok 3 3 7\nfound broken failed 1 0 0'
[ ! -e .orch ] || _fail "a dry run made a store"
for what in added known; do
    imported "$D/mlruns"
    same "$(rows)" "$what bold-ape ok 3 3 7"$'\n'"$what broken failed 1 0 0"
    imported "$D/mlflow.db"
    same "$(rows)" "$what bold-ape ok 3 3 7"$'\n'"$what broken failed 1 0 0"
    imported "$D/tensorboard"
    same "$(rows)" "$what simple ok 0 2 10"$'\n'"$what tensor/train ok 0 2 8"
    imported "$D/wandb"
    same "$(rows)" "$what sunny-1 ok 3 2 8"$'\n'"$what None ok 2 2 5"
    imported "$D/wandb-runs.csv" --param lr
    same "$(rows)" "$what sunny-1 ok 2 0 0"$'\n'"$what windy-2 crashed 2 0 0"
done

ok orch ls -n 0 --where 'plugin = import:mlflow and lr = 0.1' --json
run=$(json runs.0.key)
same "$(values "$run" train/loss)" '0:1 1:0.5 2:0.333333 3:0.25 4:0.2'
same "$(values "$run" nan)" 0:nan
ok orch show "$run" --json
same "$(json params.layers) $(json facts.imported.user) $(json facts.imported.tool)" '[32, 64] ada mlflow'
ok orch ls --where 'plugin = import:tensorboard and run_name = tensor/train' --json
same "$(values "$(json runs.0.key)" epoch_loss)" '0:1 1:0.5 2:0.25 3:0.125'
same "$(values "$(json runs.0.key)" acc)" '0:1 1:0.25 2:0.0625 3:0.015625'
ok orch ls --where 'param.model.depth = 3' --json
same "$(values "$(json runs.0.key)" val.acc)" '0:0 1:0.25 2:0.5 3:0.75'
same "$(json runs.0.tags.0)" a
ok orch ls --where 'param.model.depth = 5' --json
same "$(values "$(json runs.0.key)" acc)" '1:nan 2:0.8'
ok orch ls --tag paper --where 'val/acc > 0.9' --json
same "$(json runs.0.name)" sunny-1

# marked: best leaves them apart, nothing is paid for them, they stand in for nothing
fails 2 orch best loss --min
ok orch best loss --min --imported
ok orch cost --json
has_not digits
ok orch try -s lr=0.1 -- sh -c 'echo loss=7' '{lr}'
ok orch best loss --min --json
has 7
ok orch show @last
ok orch db check

# a run that went on is imported again, and the earlier one is hidden
cp -r "$D/mlruns" more
chmod -R u+w more
metric=$(ls -d more/*/*/metrics/train/loss)
echo '1795342999000 0.1 5' >>"$metric"
imported more
same "$(rows)" $'added bold-ape ok 3 3 8\nknown broken failed 1 0 0'
fails 2 orch best nothing --max --imported
ok orch ls --where 'plugin = import:mlflow and lr = 0.1' --json
same "$(python3 -c 'import json,sys; print(len(json.load(sys.stdin)["runs"]))' <<<"$out")" 2

# broken and hostile files: what can be read is, nothing is followed, nothing hangs
mkdir t && cp "$D"/tensorboard/simple/* t/e.tfevents.1
truncate -s -5 t/e.tfevents.1
chmod u+w t/*
imported t
says 'the file is truncated'
printf 'x' | dd of=t/e.tfevents.1 bs=1 seek=300 conv=notrunc 2>/dev/null
imported t
says 'a checksum is wrong'
rm t/*
mkfifo t/a.tfevents.1
ln -s "$D"/tensorboard/simple/events* t/b.tfevents.1
ok timeout 300 orch import --runs t
says 'cannot read'
python3 - <<'P'
import sqlite3
db = sqlite3.connect("evil.db")
for t in ("experiments", "params", "metrics", "tags"):
    db.execute("CREATE TABLE %s(run_uuid, key, value, timestamp, step, is_nan)" % t)
db.execute("CREATE VIEW runs AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x AS run_uuid FROM n")
db.commit()
P
fails 2 timeout 300 orch import --runs evil.db
says 'is not a database of MLflow'
mkdir m m/0 m/0/r
echo 'name: "x' >m/0/meta.yaml
ln -s /etc/passwd m/0/r/meta.yaml
ok orch import --runs m
says 'is not YAML'
mkdir empty
fails 2 orch import --runs empty
says 'holds no runs that orch can read'
says "'orch help importing' lists what orch reads"
echo 'a,b' >x.csv
echo '1,2' >>x.csv
fails 2 orch import --runs x.csv
says 'it lacks the columns'

# small files that are much work: a long name above many values, a log of parts of one record, a metric of line ends
python3 - <<'P'
import os, struct, zlib
os.makedirs("w/run-1-long/files"); os.makedirs("w/run-2-parts"); os.makedirs("ml/1/r/metrics")
values = ",".join('"%d":1' % i for i in range(300000))
open("w/run-1-long/files/wandb-summary.json", "w").write('{"%s":{%s}}' % ("a" * 1000000, values))
def item(name, value):
    inner = b"\x0a" + bytes([len(name)]) + name + b"\x82\x01" + bytes([len(value)]) + value
    return b"\x0a" + bytes([len(inner)]) + inner
history = item(b"loss", b"0.5") * 1000
record = b"\x12" + struct.pack("BB", len(history) & 127 | 128, len(history) >> 7) + history
log = bytearray(b":W&B\0\0\0")
for kind, data in [(1, record)] + [(4, b"")] * 100000:
    left = 32768 - len(log) % 32768
    if left < 7:
        log += b"\0" * left
    log += struct.pack("<IHB", zlib.crc32(bytes([kind]) + data), len(data), kind) + data
open("w/run-2-parts/run-parts.wandb", "wb").write(log)
open("ml/1/meta.yaml", "w").write("name: e\n"); open("ml/1/r/meta.yaml", "w").write("status: 3\n")
open("ml/1/r/metrics/loss", "w").write("\n" * 20000000 + "1700000000000 0.5 1\n")
P
ok timeout 300 orch import --runs w
says 'a record has no beginning'
(
    ulimit -v 400000
    exec timeout 300 orch import --runs ml
) >ml.out 2>&1 || _fail "reading a metric of line ends: $(cat ml.out)"
