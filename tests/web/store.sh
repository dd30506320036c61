# SPDX-License-Identifier: GPL-3.0-or-later
# Sourced after tests/cli/lib.sh: makes a store by a real run. A program that trains nothing writes real curves
# through the protocol; one parameter, and whoever runs it, have hostile names. 'live' takes its time, and does not end
# before there is $HOME/live-ends.
export ORCH_USER='<img src=x onerror=document.title=1>'
cat >curve.py <<'P'
import json, math, os, sys, time
steps, rate, delay, name = int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3]), sys.argv[4]
events = os.fdopen(int(os.environ["ORCH_EVENTS"]), "w", buffering=1)
def tell(**event): events.write(json.dumps(event) + "\n")
print("training", name, "</pre><script>document.title='log'</script>", flush=True)
print("a word on stderr", file=sys.stderr)
for i in range(steps):
    loss = 2 * math.exp(-rate * i / 20) + (5 if i == 37 else 0)  # one peak, that no thinning may lose
    tell(event="metrics", points=[["loss", i, None, loss], ["odd", i, None, i % 7]])
    tell(event="progress", done=i + 1, total=steps)
    time.sleep(delay)
    while delay and i == 300 and not os.path.exists(os.path.expanduser("~/live-ends")): time.sleep(0.05)
tell(event="result", name="accuracy", value=1 - loss / 4)
tell(event="done", status="ok")
P
cat >curve.plugin <<'Y'
plugin: curve
command: [python3, curve.py, "${steps}", "${rate}", "${delay}", "${name}"]
metrics_from: protocol
parameters:
  steps: { type: int, default: 60 }
  rate: { type: real, default: 1 }
  delay: { type: real, default: 0 }
  name: { type: string, default: plain }
metrics:
  loss: { better: min, step: step, unit: nat }
  odd: { better: none, unit: "<b>" }
  accuracy: { better: max }
Y
cat >curve.recipe <<'Y'
format: 1
recipe: curve
about: curves for the page
experiments:
  curves: { plugin: ./curve.plugin, sweep: { rate: [0.5, 1, 2] }, repeat: 2 }
  hostile: { plugin: ./curve.plugin, sweep: { name: ["<script>document.title='param'</script>"] } }
  live: { plugin: ./curve.plugin, with: { steps: 400, delay: 0.05 } }
report:
  - { title: Accuracy by rate, table: { rows: rate, value: result accuracy, experiments: [curves] } }
  - { title: Loss by step, plot: { x: step, y: loss, by: rate, experiments: [curves] } }
  - { title: Nobody ran this, table: { rows: steps, value: result accuracy, experiments: [live] } }
Y
git add -A
git commit -qm first
ok orch run curve.recipe curves hostile
. "$(dirname "$0")/serve.sh"
