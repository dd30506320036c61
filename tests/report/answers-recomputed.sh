# tests/answers.py recomputes the numbers of a report by SciPy, and finds a number that differs.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
/usr/bin/python3 -c 'import scipy, yaml' 2>/dev/null || skip 'SciPy or PyYAML is not installed (python3-scipy, python3-yaml)'
cat >train.py <<'P'
import random, sys
workers, lr, seed = int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
rng = random.Random(seed * 1000 + workers * 10 + int(10 * lr))
for epoch in range(1, 21):
    print('{"step": %d, "loss": %r}' % (epoch, 1 / (1 + lr * epoch) + rng.random() / 100))
print('{"accuracy": %r, "total_time": %r, "reached_target": %d, "epochs_needed": %d}' %
      (0.5 + lr / 10 + rng.random() / 50, 100 / workers ** 0.8 + rng.random(), rng.random() < 0.8, rng.randint(3, 18)))
P
cat >train.plugin <<'Y'
command: [python3, train.py, "${workers}", "${lr}", "${seed}"]
parameters:
  workers: { type: int, default: 1 }
  lr: { type: real, default: 1 }
metrics:
  loss: { better: min, step: epoch }
  accuracy: { better: max }
  total_time: { better: min, unit: s }
  reached_target: { better: max }
  epochs_needed: { better: min, unit: epochs }
Y
cat >a.recipe <<'R'
format: 1
recipe: a
experiments:
  rates: { plugin: ./train.plugin, sweep: { lr: [0.5, 1, 2] }, repeat: 6 }
  scaling: { plugin: ./train.plugin, with: { lr: 0.75 }, sweep: { workers: [1, 2, 4] }, repeat: 3 }
report:
  - { question: "1", title: Accuracy, table: { rows: lr, value: [accuracy, best loss], experiments: rates } }
  - { question: "2", title: Both, table: { rows: lr, columns: experiment, value: accuracy } }
  - { question: "3", title: Loss, plot: { x: epoch, y: loss, by: lr, experiments: rates } }
  - { question: "4", title: Time, plot: { x: workers, y: total_time, ideal: true, experiments: scaling } }
  - { question: "5", title: Speedup, speedup: { value: total_time, experiments: scaling } }
  - { question: "6", title: Winner, best: { value: accuracy, by: lr, experiments: rates } }
  - { question: "7", title: Against, compare: { value: accuracy, by: lr, baseline: 0.5, experiments: rates } }
  - { question: "8", title: End, converged: { value: loss, by: lr, experiments: rates } }
  - { question: "9", title: Ranks, correlate: { x: last loss, y: accuracy, experiments: rates } }
  - { question: "10", title: Until, time_to_accuracy: { value: epochs_needed, reached: reached_target, by: lr, experiments: rates } }
R
ok orch run a.recipe -q
ok /usr/bin/python3 "$ORCH_SOURCE_DIR/tests/answers.py" a.recipe
has ' 0 differ; sections not recomputed: none'
count=$(printf '%s\n' "$out" | sed -n 's/ numbers recomputed.*//p')
[ "$count" -ge 120 ] || _fail "only $count numbers were recomputed"
# exported values that are not those of the report
mkdir other
cat >other/orch <<'P'
#!/usr/bin/python3
import json, os, subprocess, sys
done = subprocess.run([os.environ["ORCH_REAL"], *sys.argv[1:]], capture_output=True)
if sys.argv[1] != "export" or done.returncode:
    sys.stdout.buffer.write(done.stdout)
    sys.exit(done.returncode)
rows = json.loads(done.stdout)
for row in rows:
    for name in [n for n in row if n in ("value", "result.accuracy", "result.total_time") and row[n] is not None]:
        row[name] += 0.001
print(json.dumps(rows))
P
chmod +x other/orch
ORCH_REAL=$(command -v orch) fails 1 /usr/bin/python3 "$ORCH_SOURCE_DIR/tests/answers.py" --orch "$PWD/other/orch" a.recipe
has 'Accuracy: '
has 'Loss: '
has 'Speedup: '
has 'Winner: '
has 'End: '
