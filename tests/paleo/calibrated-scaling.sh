# The report item paleo_scaling with calibrate: the forecast for one worker equals its measurement, PPP follows from it,
# and only more workers are graded; input that cannot be calibrated is refused. A reference to a number is checked with
# a value in the range of its parameter.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
cat >rate.plugin <<'Y'
command: [sh, rate.sh, "${workers}", "${step}"]
parameters: { workers: { type: int }, step: { type: real, default: 1, min: 0.5 } }
metrics: { throughput: { unit: images/s, better: max } }
Y
printf '%s\n' 'case $1 in 1) r=20 ;; *) r=36 ;; esac; echo "{\"throughput\": $r}"' >rate.sh
recipe() { # ITEM-KEYS
    cat >t.recipe <<R
format: 1
recipe: t
experiments:
  real: { plugin: ./rate.plugin, sweep: { workers: [1, 2] } }
  two: { plugin: ./rate.plugin, with: { workers: 2 } }
  sim: { plugin: ./rate.plugin, with: { step: "\${two.throughput}" }, sweep: { workers: [1, 2] } }
report:
  - { title: T, paleo_scaling: { $1, net: inception_v3, batch: 128, link: pcie3, ppp_comm: 1, simulated: [sim] } }
R
}
recipe 'workers: [1, 2], gpu: "paleo:K80", calibrate: true, experiments: [real]'
ok orch check t.recipe
ok orch report t.recipe
has "'calibrate' needs a training with one worker, and none was measured"
ok orch run t.recipe -q
ok orch report t.recipe --json
python3 - "$SCRATCH/out" <<'P' || _fail 'the calibrated forecast'
import json, re, sys
section = json.load(open(sys.argv[1]))["sections"][0]
rows = [b["rows"] for b in section["blocks"] if "rows" in b]
text = " ".join(b.get("text", "") for b in section["blocks"])
forecast = [next(v for k, v in row.items() if "predicted" in k) for row in rows[0]]
errors = [next(v for k, v in row.items() if "paleo" in k) for row in rows[-1]]
assert abs(forecast[0] / 20 - 1) < 1e-3 and 36 < forecast[1] < 40, forecast
assert abs(errors[0]) < 0.1 and abs(errors[1] - 100 * (forecast[1] / 36 - 1)) < 1e-6, errors
shown = float(re.search(r"Error of the throughput that PALEO predicts:? (-?[\d.]+)", text)[1])
assert abs(shown / errors[1] - 1) < 1e-2 and "ean of the absolute" not in text, (shown, errors)  # of one error there is no mean
ppp = float(re.search(r"reach: ([\d.]+) in computing", text)[1])
assert 0 < ppp < 1, ppp
P
ok orch report t.recipe
has 'only the numbers for more workers test the model'
has '0 (fitted)'
# a faster device than PALEO's
recipe 'workers: [1, 2], gpu: "paleo:CPU_I7", calibrate: true, experiments: [real]'
ok orch report t.recipe
has 'one worker trained 20 images/s, which is more than the peak of PALEO'
has 'name another GPU'
# nothing was measured with one worker
recipe 'workers: [2, 4], gpu: "paleo:K80", calibrate: true, experiments: [real]'
ok orch report t.recipe
has 'needs a training with one worker, and none was measured'
