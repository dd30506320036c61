# Curves walked in Chromium: a panel for each metric, by step, epoch, time or another metric; outliers cut off; a range, and all
# else, in the address; what is seen as SVG, PNG and CSV. And the pictures of a run by step, with a slider.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
. "$(dirname "$0")/browser.sh"
. "$(dirname "$0")/store.sh"
cat >fit.py <<'P'
import json, math, os, sys
rate, seed = float(sys.argv[1]), int(sys.argv[2])
events = os.fdopen(int(os.environ["ORCH_EVENTS"]), "w")
def tell(**event): events.write(json.dumps(event) + "\n")
for i in range(100):
    points = [["train_loss", i, None, 2 * math.exp(-rate * i / 20) + .01 * (seed % 7) + (900 if i == 50 else 0)]]
    if i % 10 == 9:
        points += [["epoch", i, None, i // 10 + 1], ["val_acc", i, None, 1 - math.exp(-rate * i / 25) / 2]]
    tell(event="metrics", points=points)
tell(event="done", status="ok")
P
cat >fit.plugin <<'Y'
plugin: fit
command: [python3, fit.py, "${rate}", "${seed}"]
metrics_from: protocol
parameters: { rate: { type: real, default: 1 } }
metrics: { train_loss: { better: min, step: step, unit: nat }, val_acc: { better: max, step: step }, epoch: { better: none, step: step } }
Y
cat >fit.recipe <<'Y'
format: 1
recipe: fit
experiments: { fit: { plugin: ./fit.plugin, sweep: { rate: [1, 2] }, repeat: 3 } }
Y
git add -A
git commit -qm fit
ok orch run fit.recipe -q
cat >draw.py <<'P'
import orch
run = orch.start()
for step in (10, 20, 30):
    run.image(f"dots-{step}", [[step * x * y % 256 for x in range(32)] for y in range(32)])
run.image("map", [[x for x in range(32)] for y in range(32)])
run.end()
P
PYTHONPATH=$SOURCE/share/python ok python3 draw.py
ok orch ls -e draw
has draw
serve
walk curves.py
unserve
