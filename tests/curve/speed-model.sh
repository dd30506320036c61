# The report item speed_model finds a known law, predicts settings that were left out, and refuses data without a law.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
cat >speed.plugin <<'Y'
command: [sh, -c, "awk -v p=${servers} -v w=${workers} -v b=${batch} 'BEGIN { printf \"{\\\"speed\\\": %.10f, \\\"rounds\\\": %.10f}\\n\", w / (0.5 + 0.25 * w / p + 0.125 * w + 0.0625 * p), 1 / (0.01 * b + 0.5 + 0.25 * w / p + 0.125 * w + 0.0625 * p) }'"]
parameters: { servers: { type: int }, workers: { type: int }, batch: { type: int, default: 64 } }
metrics: { speed: { unit: steps/s, better: max }, rounds: { unit: steps/s, better: max } }
Y
cat >t.recipe <<'R'
format: 1
recipe: t
experiments:
  t: { plugin: ./speed.plugin, sweep: { servers: [1, 2, 4], workers: [1, 2, 4] } }
  same: { plugin: ./speed.plugin, sweep: { servers: [1, 2, 4] }, zip: { workers: [1, 2, 4], batch: [64, 32, 16] } }
report:
  - { title: A, speed_model: { value: result speed, experiments: [t] } }
  - { title: S, speed_model: { value: result rounds, mode: synchronous, experiments: [same] } }
  - { title: B, speed_model: { value: result rounds, mode: synchronous, experiments: [t] } }
R
ok orch run t.recipe -q
ok orch report t.recipe --json
python3 - "$SCRATCH/out" <<'P' || _fail 'what the models give'
import json, sys
a, s, b = json.load(open(sys.argv[1]))["sections"]
for section in a, s:
    rows = next(block["rows"] for block in section["blocks"] if "rows" in block)
    assert len(rows) == 9, rows
    assert all(abs(row["error_(%)"]) < 0.1 for row in rows), rows
    errors = [row["left_out:_error_(%)"] for row in rows if row["left_out:_error_(%)"] is not None]
    assert len(errors) >= 5 and max(map(abs, errors)) < 0.5, errors
    assert section["blocks"][0]["kind"] == "answer" and "The mean error of the speed model is " in section["blocks"][0]["text"], section["blocks"][0]
text = json.dumps(a)
for word in "0.5 x 1", "0.25 x w/p", "0.125 x w", "0.0625 x p", "1 server", "4 servers":
    assert word in text, (word, text)
assert "the synchronous model needs the same total batch in each measurement" in json.dumps(b), b
P
# what cannot be
sed 's/mode: synchronous, experiments: .same./mode: sync, experiments: [same]/' t.recipe >u.recipe
fails 2 orch check u.recipe
says "unknown mode 'sync' of a speed model"
says 'asynchronous or synchronous'
