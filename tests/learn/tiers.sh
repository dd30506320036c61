# Tiers of forecasts (measured, fitted, transferred), calibration, and stored predictors.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
cat >fake.plugin <<'Y'
plugin: fake
version: 1.0.0
about: a training whose time follows a law
command: [sh, "-c", "for i in 1 2 3; do awk -v b=${batch} -v n=${net} -v r=${jitter} 'BEGIN {printf \"step_time %.9f\\n\", (0.004 + b * (n == \"resnet20\" ? 0.0005 : 0.0009)) * r}'; done"]
metrics_from: lines
parameters:
  net: {type: string, default: resnet20, help: network}
  batch: {type: int, default: 16, help: images}
  jitter: {type: real, default: 1.0, help: factor}
metrics:
  step_time: {unit: s, better: min, step: step, help: time}
cost: {network: "${net}", precision: fp32, framework: "none 1", input: 3x32x32, classes: "10", images: "1000", batch: "${batch}", workers: "1", epochs: "1", training: "true"}
Y
cat >f.recipe <<'Y'
format: 1
recipe: f
experiments:
  f: { plugin: ./fake.plugin, sweep: { net: [resnet20, resnet32], batch: [8, 12, 16, 32, 48, 64, 96], jitter: [0.99, 1.01] } }
Y
ask() { orch predict --net resnet20 --dataset cifar10 --epochs 1 --precision fp32 "$@"; }
ok ask --gpu V100 --batch 16 --json
same "$(json tier)" same-chip 'an empty store'
white=$(json predictions.0.step_s)
ok orch run f.recipe --no-progress
ok orch predictor rows --json
same "$(json rows.#)" 28
gpu=$(json rows.0.gpu)
printf 'gpus:\n  - { name: "%s", like: T4 }\n' "$gpu" >hardware.yaml
export ORCH_HARDWARE=$PWD/hardware.yaml
near() { python3 -c 'import sys; a, b, t = map(float, sys.argv[1:]); sys.exit(abs(a / b - 1) > t)' "$@" || _fail "$1 is not $2"; }

# measured: the median of the runs of it, with the spread of equal ones
ok ask --gpu "$gpu" --batch 16 --json
same "$(json tier)" measured
near "$(json predictions.0.step_s)" 0.012 0.005
case $(json predictions.0.because) in '2 runs of this setting'*) ;; *) _fail 'because' ;; esac
# fitted: between what was run; a predictor of few rows is learned on the way
ok ask --gpu "$gpu" --batch 24 --json
same "$(json tier)" fitted
near "$(json predictions.0.step_s)" 0.016 0.06
ok orch predictor ls --json
same "$(json predictors.#)" 1 'kept for the next question'
ok ask --gpu "$gpu" --batch 24 --explain
has 'nearest measurements'
has "resnet20 on $gpu, batch"
has 'trained predictor: '
has 'tier fitted: a predictor trained on measurements'
has 'learned from 28 runs of the store ('
has_not 'of data set'
ok ask --gpu "$gpu" --batch 24 --explain --json
printf '%s' "$out" | python3 -c '
import json, sys
e = json.load(sys.stdin)["predictions"][0]["explanation"]
assert abs(e["learned"]["step_s"] / 0.016 - 1) < 0.06, e["learned"]
assert len(e["nearest"]) == 5 and all(n["runs"] == n["count"] == 2 and n["net"] == "resnet20" for n in e["nearest"])
assert {n["batch"] for n in e["nearest"][:2]} == {"16", "32"} and {"net", "batch"} <= {f["name"] for f in e["features"]}
' || _fail 'the explanation is wrong'
# published steps of the chip and runs of this network on another GPU; one run alone with --calibrate
ok ask --gpu V100 --batch 16 --json
same "$(json tier)" same-chip
case $(json predictions.0.because) in *' run here'*) ;; *) _fail 'the runs are not used' ;; esac
python3 -c 'import sys; a, b = map(float, sys.argv[1:]); sys.exit(not abs(a / b - 1) > 0.02)' "$(json predictions.0.step_s)" "$white" || _fail 'the runs do not move the answer'
run=$(orch ls --where 'net = resnet20 and batch = 16' --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["runs"][0]["key"])')
ok orch predict --gpu "$gpu" --net resnet20 --dataset cifar10 --epochs 1 --batch 16 --precision fp32 --calibrate "$run" --json
near "$(json predictions.0.step_s)" 0.012 0.02
ok orch predict --gpu V100 --net resnet20 --dataset cifar10 --epochs 1 --batch 16 --precision fp32 --calibrate "$run" --json
python3 -c 'import sys; a, b = map(float, sys.argv[1:]); sys.exit(not (a != b))' "$(json predictions.0.step_s)" "$white" || _fail 'not shifted'
# from another GPU the interval of a chip that was not measured gets no narrower
python3 -c 'import sys; l, m = map(float, sys.argv[1:]); sys.exit(not 1.85 < m / l < 1.93)' "$(json predictions.0.step_low_s)" "$(json predictions.0.step_s)" || _fail 'the interval of a borrowed shift'
fails 2 ask --gpu V100 --calibrate nosuchrun
says nosuchrun
# a ranking is of one configuration
fails 2 ask --gpu all --batch 8,16
says --batch
fails 2 ask --gpu all --workers 1,2
says --workers
fails 2 ask --gpu all --explain
says --explain
# the model by name speaks alone
ok ask --gpu "$gpu" --batch 16 --model transferred --json
same "$(json tier)" transferred

# a processor: 'here', by the machine's name, holds what runs call by the processor's model; it says nothing of a GPU
mkdir -p "$XDG_DATA_HOME/orch/devices" # as 'orch doctor --bench' leaves it
printf 'gpus:\n- {name: thishost, arch: "%s", fp32_tflops: 0.1, bandwidth_gbs: 20, memory_gb: 8}\n' "$gpu" \
    >"$XDG_DATA_HOME/orch/devices/$(python3 -c 'import sqlite3; print(sqlite3.connect(".orch/results.db").execute("SELECT key FROM machine").fetchone()[0])').yaml"
unset ORCH_HARDWARE
rm hardware.yaml
ok ask --gpu here --batch 16 --json
same "$(json tier)" measured
ok ask --gpu V100 --batch 16 --json
same "$(json predictions.0.step_s)" "$white"
ok ask --gpu V100 --batch 16 --model transferred --json
model=$(json predictions.0.step_s)
ok ask --gpu V100 --batch 16 --calibrate "$run" --json
same "$(json predictions.0.step_s)" "$model"
case $(json predictions.0.because) in 'not corrected'*) ;; *) _fail 'not said' ;; esac
rm -r "$XDG_DATA_HOME/orch/devices"
printf 'gpus:\n  - { name: "%s", like: T4 }\n' "$gpu" >hardware.yaml
export ORCH_HARDWARE=$PWD/hardware.yaml

# predictors that are kept
ok orch predictor rm step_ms
fails 2 orch predictor show step_ms
says 'orch predictor train'
ok orch predictor train --untuned --model linear
has "predictor 'step_ms' from 28 rows of 14 settings"
has 'baselines: '
ok orch predictor ls
has step_ms
has yes
ok orch predictor show step_ms --json
same "$(json rows) $(json configurations) $(json used)" '28 14 true'
ok orch predictor export step_ms -o kept.json
same '' "$out"
python3 -c 'import json; d = json.load(open("kept.json")); assert d["format"] == 1 and d["learned"]["questions"] and len(d["known"]) == 14, d.keys()' || _fail 'the export'
ok ask --gpu "$gpu" --batch 24 --json
same "$(json tier)" fitted
near "$(json predictions.0.step_s)" 0.016 0.06
ok orch run f.recipe --no-progress -x f.jitter=1.02
ok ask --gpu "$gpu" --batch 16 --json
says 'newer than the predictor'
same "$(json tier)" measured
# one of a newer version, and a broken one: named, and the answer falls back
python3 - <<'P'
import json, sqlite3
db = sqlite3.connect(".orch/results.db")
head, *behind = db.execute("SELECT model FROM predictor").fetchone()[0].split("\n")
model = json.loads(head)
model["format"] = 99
db.execute("UPDATE predictor SET model = ?", ("\n".join([json.dumps(model), *behind]),))
db.commit()
P
ok ask --gpu "$gpu" --batch 16 --json
says 'has format 99; this orch reads up to 1'
same "$(json tier)" measured
fails 2 orch predictor show step_ms
says 'update orch'
sqlite() { python3 -c 'import sqlite3, sys; db = sqlite3.connect(".orch/results.db"); db.execute(sys.argv[1]); db.commit()' "$1"; }
sqlite "UPDATE predictor SET model = '{\"format\": 1'"
ok ask --gpu "$gpu" --batch 16 --json
says 'damaged'
ok orch predictor rm step_ms
fails 2 orch predictor rm step_ms
# a model that loses to what is known without it is kept, said, and not used
python3 - <<'P'
import random
random.seed(3)
with open("noise.csv", "w") as f:
    f.write("gpu,net,batch,step_ms\n")
    for i in range(60):
        f.write(f"V100,resnet18,{2 ** random.randint(0, 7)},{random.lognormvariate(3, 1):.5g}\n")
with open("repeats.csv", "w") as f:
    f.write("gpu,net,batch,step_ms\n")
    for i in range(12):
        ms = random.lognormvariate(3, 1)
        f.write(f"V100,resnet18,{i + 1},{ms:.5g}\n" * 5)
with open("constant.csv", "w") as f:
    f.write("gpu,net,batch,step_ms\n" + "".join(f"V100,resnet18,{i + 1},7\n" for i in range(20)))
P
ok orch import constant.csv --target step_ms
ok orch predictor train --no-runs --data constant --name c --untuned
ok orch predictor show c --json
ok orch import noise.csv --target step_ms
ok orch predictor train --no-runs --data noise --name n --untuned --model linear
has 'baselines: '
ok orch import repeats.csv --target step_ms
ok orch predictor train --no-runs --data repeats --name r --untuned --model linear
has 'the predictor is not better'
ok orch predictor ls
has 'no: a baseline is better'
fails 2 orch predictor train --no-runs --data constant --model boots
says 'boost'
fails 2 orch predictor train --no-runs --data constant --model magic
says 'auto, grey, linear'
# what was learned from data sets is not called the store's own runs
python3 - <<'P'
with open("law.csv", "w") as f:
    f.write("gpu,net,batch,precision,step_ms\n")
    for batch in (8, 12, 16, 32, 48, 64, 96):
        for net, image in (("resnet18", 0.5), ("resnet34", 0.9)):
            for jitter in (0.99, 1.01):
                f.write(f"V100,{net},{batch},fp32,{(4 + batch * image) * jitter:.5g}\n")
P
ok orch import law.csv --target step_ms --source here --licence MIT
ok orch predictor train --no-runs --data law --untuned
ok orch predict --gpu V100 --net resnet18 --batch 24
has 'tier fitted'
has "learned from 28 rows of data set 'law' ("
has_not 'own runs'
ok orch predict --gpu V100 --net resnet18 --batch 16
has 'tier measured'
has "2 rows of data set 'law', of this setting"
ok orch predictor train --data law,noise --untuned --model linear
fails 2 orch predictor train --no-runs --data nosuch
says nosuch
fails 2 orch predictor train --target epoch
says "did you mean 'epoch_s'"
fails 2 orch predictor train --where 'batch > 1000'
says 'no run that ended ok matches --where'
says 'orch ls --where'
