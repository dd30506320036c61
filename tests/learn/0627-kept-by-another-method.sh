# A predictor that another method trained would be off by what changed: trained again if it came of itself, else refused with what to do.
. "$(dirname "$0")/../cli/lib.sh"
cat >fake.plugin <<'Y'
plugin: fake
version: 1.0.0
about: a training whose time follows a law
command: [sh, "-c", "for i in 1 2 3; do awk -v b=${batch} -v r=${jitter} 'BEGIN {printf \"step_time %.9f\\n\", (0.004 + b * 0.0005) * r}'; done"]
metrics_from: lines
parameters:
  batch: {type: int, default: 16, help: images}
  jitter: {type: real, default: 1.0, help: factor}
metrics:
  step_time: {unit: s, better: min, step: step, help: time}
cost: {network: resnet20, precision: fp32, framework: "none 1", input: 3x32x32, classes: "10", images: "1000", batch: "${batch}", workers: "1", epochs: "1", training: "true"}
Y
cat >f.recipe <<'Y'
format: 1
recipe: f
experiments:
  f: { plugin: ./fake.plugin, sweep: { batch: [8, 12, 16, 32, 48, 64, 96], jitter: [0.99, 1.01] } }
Y
ok orch run f.recipe --no-progress
ok orch predictor rows --json
gpu=$(json rows.0.gpu)
printf 'gpus:\n  - { name: "%s", like: T4 }\n' "$gpu" >hardware.yaml
export ORCH_HARDWARE=$PWD/hardware.yaml
ask() { ok orch predict --net resnet20 --dataset cifar10 --precision fp32 --gpu "$gpu" --batch 24 --json; }
method() { # the kept predictor's; with an argument, sets it
    python3 - "$@" <<'P'
import json, sqlite3, sys
db = sqlite3.connect(".orch/results.db")
head, *behind = db.execute("SELECT model FROM predictor").fetchone()[0].split("\n")
model = json.loads(head)
print(model.get("method"))
if sys.argv[1:]:
    model["method"] = int(sys.argv[1])
    for m in model["learned"]["questions"][0]["members"]:  # what a change of the method does
        m["white"] and m["white"].update(factor=2 * m["white"]["factor"])
    db.execute("UPDATE predictor SET model = ?", ("\n".join([json.dumps(model), *behind]),))
    db.commit()
P
}
ask
same "$(json tier)" fitted
step=$(json predictions.0.step_s)
now=$(method)
method 1 >/dev/null
fails 2 orch predictor show step_ms
says 'another method'
says "hint: 'orch predictor train'"
ask
same "$(json tier) $(json predictions.0.step_s)" "fitted $step" 'trained again'
has_not 'is not used'
same "$(method)" "$now" 'and kept'
# one that was asked for may be of other rows, so that only its owner can train it again
ok orch predictor train
same "$(method)" "$now"
method 1 >/dev/null
ask
says 'by method 1'
says 'orch predictor train'
same "$(json predictions.0.step_s)" "$step" 'learned from the runs for this question'
same "$(method)" 1 'not replaced'
fails 2 orch predictor show step_ms
says "hint: train it again with 'orch predictor train'"
ok orch predictor ls
says "predictor 'step_ms': "
ok orch predictor train
ask
same "$(json tier)" fitted
