# The networks of PALEO's repository: InceptionV3 on 1, 2, 4 and 8 K80 gives the published program's throughputs, in the
# command and in both report items, which say which network was taken. The zoo's network of that name gives others.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
options='--gpu paleo:K80 --batch 128 --workers 1,2,4,8 --scaling strong --scheme TreeAllReduce --network pcie3 --ppp-comp 0.62 --ppp-comm 0.72'
ok orch paleo --net paleo:inception_v3 $options --json
cp "$SCRATCH/out" own.json
ok orch paleo --net inception_v3 $options --json
python3 - own.json "$SCRATCH/out" <<'P' || _fail 'throughputs of the command'
import json, sys
own, zoo = [[row["images_per_s"] for row in json.load(open(f))["steps"]] for f in sys.argv[1:]]
for got, want in zip(own, (86.54, 169.2, 317.0, 543.3)):
    assert abs(got / want - 1) < 3e-4, (got, want)
assert all(abs(a / b - 1) > 1e-3 for a, b in zip(own, zoo)), zoo
P
cat >rate.plugin <<'Y'
command: [sh, -c, "echo '{\"throughput\": 80}'"]
parameters: { workers: { type: int } }
metrics: { throughput: { unit: images/s, better: max } }
Y
cat >t.recipe <<'R'
format: 1
recipe: t
experiments:
  sim: { plugin: ./rate.plugin, sweep: { workers: [1, 2, 4, 8] } }
report:
  - { title: GPUs, paleo_scaling: { net: "paleo:inception_v3", workers: [1, 2, 4, 8], gpu: "paleo:K80", batch: 128, link: pcie3,
      ppp: 0.62, ppp_comm: 0.72, price: 0.9, simulated: [sim] } }
  - { title: cores, paleo_scaling: { net: "resnet-cifar:8", workers: [1, 2], gpu: "paleo:CPU_I7", price: 0.9, simulated: [sim] } }
  - { title: passes, paleo: { nets: [vgg16, "paleo:inception_v3", "paleo:resnet50"] } }
  - { title: ratios, paleo: { nets: ["resnet50-v1 by paleo:resnet50"], peak_tflops: 8.74 } }
  - { title: wrong, paleo: { nets: ["paleo:resnet50"], peak_tflops: 8.74 } }
  - { title: unknown, paleo: { nets: ["paleo:resnet51"] } }
R
ok orch run t.recipe -q
ok orch report t.recipe --json
python3 - "$SCRATCH/out" <<'P' || _fail 'the report items'
import json, sys
gpus, cores, passes, ratios, wrong, unknown = json.load(open(sys.argv[1]))["sections"]
tables = [next(b["rows"] for b in s["blocks"] if "rows" in b) for s in (gpus, passes, ratios)]
rates = [next(v for k, v in row.items() if "predicted" in k) for row in tables[0]]
assert all(abs(a / b - 1) < 3e-4 for a, b in zip(rates, (86.54, 169.2, 317.0, 543.3))), rates
assert [row["input"] for row in tables[1]] == ["3x224x224", "3x299x299", "3x224x224"], tables[1]
assert tables[2][0]["practical_of"] == "paleo:resnet50", tables[2]
text = [json.dumps(s) for s in (gpus, cores, wrong, unknown)]
assert "from PALEO's repository" in text[0] and "23734312 parameters" in text[0]
assert "made-up price of a worker" in text[1] and "made-up" not in text[0]
assert "must be a network of 'orch net ls'" in text[2], text[2]
assert "did you mean 'resnet50'" in text[3] or "no network 'resnet51'" in text[3], text[3]
P
