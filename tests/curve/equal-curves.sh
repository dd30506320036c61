# Curves that are equal to the last bit, because runs on two devices had one seed, are one observation: the reports count
# them once, say so, and test nothing with them. Curves of several seeds count each.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
# 1/(b0 k + b1) + b2 of the depth, with noise of the seed; the device changes nothing
cat >law.py <<'P'
import json, random, sys
net, seed = sys.argv[1], int(sys.argv[2])
depth, noise = int(net.split(":")[1]), random.Random(seed * 1000 + int(net.split(":")[1]))
for k in range(1, 101):
    loss = (1 / ((0.04 - depth / 2000) * k + 0.4) + 0.3 - depth / 400) * noise.uniform(0.97, 1.03)
    print(json.dumps({"step": k, "step_loss": loss}))
    if k % 10 == 0:
        print(json.dumps({"step": k // 10, "val_accuracy": 1 - loss / 4, "epoch_time": 0.66}))
print(json.dumps({"train_images": 640}))
P
cat >law.plugin <<'Y'
command: [python3, law.py, "${net}", "${seed}"]
parameters:
  net: { type: string, default: "resnet-cifar:20" }
  batch: { type: int, default: 64 }
  epochs: { type: int, default: 10 }
metrics:
  step_loss: { better: min, step: step }
  val_accuracy: { better: max, step: epoch }
  epoch_time: { unit: s, better: min, step: epoch }
  train_images: { unit: images }
cost: { network: "${net}", input: 3x32x32, batch: "${batch}", epochs: "${epochs}", classes: "10" }
Y
cat >c.recipe <<'R'
format: 1
recipe: c
with: { epochs: 10 }
experiments:
  one:
    plugin: ./law.plugin
    resources: { cores: 1 }
    reuse: device
    sweep: { net: ["resnet-cifar:8", "resnet-cifar:14", "resnet-cifar:26", "resnet-cifar:32"] }
  two:
    plugin: ./law.plugin
    resources: { cores: 2 }
    reuse: device
    sweep: { net: ["resnet-cifar:8", "resnet-cifar:14", "resnet-cifar:26", "resnet-cifar:32"] }
  held: { plugin: ./law.plugin, resources: { cores: 1 }, reuse: device }
  held2: { plugin: ./law.plugin, resources: { cores: 2 }, reuse: device }
report:
  - { question: "1", curve: { value: step_loss, experiments: [one, two] } }
  - { question: "2", curve_law: { experiments: [one, two], held_out: [held, held2] } }
R
ok orch run c.recipe -q
ok orch report c.recipe
has '8 of 8 curves have a fitted model. They are 4 different curves'
has 'count as one: resnet-cifar:8 on 2 threads = on 1 thread'
has 'fitted to 4 independent curves of 4 networks'
has '4 further curves equal one of these exactly'
has 'the device matters cannot be tested: the losses on the devices are equal'
has 'Its 2 terms are fitted to 4 independent curves'
has 'the 2 curves of left-out networks count as 1: some are exactly equal'
has_not 'as expected'
has_not 'F('
has 'equal to the last bit, because the runs have the same seed'
# what is fitted to eight rows is what is fitted to the four: also the accuracy by loss
ok orch curve --where 'experiment=one or experiment=two' --net resnet-cifar:20 --target-accuracy 85% --json
cp "$SCRATCH/out" both
ok orch curve --where 'experiment=one' --net resnet-cifar:20 --target-accuracy 85% --json
python3 - both "$SCRATCH/out" <<'P' || _fail 'copies count'
import json, sys
both, one = [json.load(open(f)) for f in sys.argv[1:]]
assert both["predicted"]["runs"] == one["predicted"]["runs"] == 4, both["predicted"]
assert both["predicted"]["stages"] == one["predicted"]["stages"]
assert both["bridge"] == one["bridge"]
P
# with seeds by device the curves of a device are observations of its own
sed '/reuse: device$/s/$/\n    seed: device/; s/reuse: device }/reuse: device, seed: device }/' c.recipe >d.recipe
sed -i 's/^recipe: c/recipe: d/' d.recipe
ok orch run d.recipe -q
ok orch report d.recipe
has '8 of 8 curves could be fitted'
has_not 'different curves'
has 'fitted to 8 independent curves of 4 networks'
has 'F(1, 3) = '
has_not 'equal to the last bit'
ok orch plan d.recipe --json
python3 - "$SCRATCH/out" <<'P' || _fail 'a run of the same device is not reused'
import json, sys
assert {t["state"] for t in json.load(open(sys.argv[1]))["trials"]} == {"done"}
P
# a device that depends on -j has no seed of its own
sed 's/resources: { cores: 1 }/resources: { exclusive: true }/' d.recipe >bad.recipe
fails 2 orch check bad.recipe
says "'seed: device' needs 'cores' or 'gpus'"
# where their seeds differ, these are no cause
sed 's/\(random.Random(\)seed \* 1000/\10/' law.py >blind.py
sed 's/law.py/blind.py/' law.plugin >blind.plugin
sed 's/law.plugin/blind.plugin/; s/^recipe: c/recipe: e/; /reuse: device$/s/$/\n    seed: device/; s/reuse: device }/reuse: device, seed: device }/' c.recipe >e.recipe
ok orch run e.recipe -q
ok orch report e.recipe
has '4 further curves equal one of these exactly, although the seeds of the runs differ, so that the seed has no effect'
has_not 'the same seed'

# a coefficient of the device that is many of its standard errors from 0, where the test finds no effect: both are said as one
cat >shift.py <<'P'
import json, sys
net, shifted = sys.argv[1], sys.argv[3] == "true"
depth = int(net.split(":")[1])
shift = {8: 0.01, 14: 0.04, 20: 0, 26: 0.03, 32: 0.06}[depth] if shifted else 0
for k in range(1, 101):
    print(json.dumps({"step": k, "step_loss": 1 / ((0.04 - depth / 2000) * k + 0.4 + shift) + 0.3 - depth / 400}))
    if k % 10 == 0:
        print(json.dumps({"step": k // 10, "val_accuracy": 0.5, "epoch_time": 0.66}))
print(json.dumps({"train_images": 640}))
P
sed 's/law.py/shift.py/; s/"${seed}"/&, "${shifted}"/; /^parameters/a\  shifted: { type: bool, default: false }' law.plugin >shift.plugin
sed 's/law.plugin/shift.plugin/; s/^recipe: d/recipe: f/; /^  two:/a\    with: { shifted: true }' d.recipe >f.recipe
ok orch run f.recipe -q
ok orch report f.recipe
has 'the term of b1 for 2 threads is'
has 'times its standard error, but the F test above finds no effect of the device'
has 'No effect of the device is found'
