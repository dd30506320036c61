# A predictor that another method trained would be off by what changed: trained again if it came of itself, else refused with what to do.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
. "$(dirname "$0")/fake_training.sh"
fake_training resnet20 3x32x32 0.0005
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
says 'by a method that this orch does not use'
says "hint: train it again with 'orch predictor train'"
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
