# A plugin that declares copies of each sample, steps instead of epochs, or samples instead of images: the forecast
# counts all of the work, and the run records it.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
[ -e "$BUILD/fake_nvml/libnvidia-ml.so.1" ] || skip 'the build has no made-up GPUs'
export LD_LIBRARY_PATH=$BUILD/fake_nvml FAKE_NVML_COUNT=1 FAKE_NVML_MODEL='NVIDIA A100-SXM4-40GB'
plugin() { # NAME COST
    cat >"$1.plugin" <<P
plugin: $1
command: [sh, -c, "echo step_time 0.300"]
parameters: { batch: 64, copies: 1, steps: 100, actors: 2 }
metrics:
  step_time: {unit: s, better: min, step: step, help: time}
cost: {network: resnet18, input: 3x224x224, classes: "1000", training: "true", precision: fp32, $2}
P
    printf 'format: 1\nrecipe: %s\nexperiments:\n  e: { plugin: ./%s.plugin, resources: { gpus: 1 } }\n' "$1" "$1" >"$1.recipe"
}
plugin copied 'images: "50000", epochs: "3", batch: "${batch}", copies: "${copies}"'
plugin plain 'images: "50000", epochs: "3", batch: "${batch}"'
plugin stepped 'unit: frames, samples: "${batch}", steps: "${steps}", actors: "${actors}"'
total() {
    local r=$1
    shift
    ok orch plan "$r.recipe" "$@" --json
    found=$(json trials.0.forecast.total_s)
}
is() { python3 -c "import sys; assert $1, sys.argv[1:]" "$found" "$before" || _fail "$1: $found and $before"; }

# one copy is what it was; four copies are a batch and an epoch of four times as many images
total plain
before=$found
total copied
same "$found" "$before" 'forecasts without copies and with one'
total copied -s copies=4
is "2.5 < $found / $before < 4.5"
four=$found
ok orch predict --gpu "$FAKE_NVML_MODEL" --net resnet18 --input 3x224x224 --classes 1000 --dataset 200000 --epochs 3 --batch 256 --precision fp32 --json
same "$(json predictions.0.total_s)" "$four" 'four copies and a batch of four times the size'

# steps: 100 of 64 frames; twice as many take twice the time
total stepped
before=$found
total stepped -s steps=200
is "abs($found / $before - 2) < 1e-9"
ok orch predict --gpu "$FAKE_NVML_MODEL" --net resnet18 --input 3x224x224 --classes 1000 --dataset 6400 --epochs 1 --batch 64 --precision fp32 --json
same "$(json predictions.0.total_s)" "$before" '100 steps of 64 and an epoch of 6400'

# recorded with the run, and read as the size of its step
ok orch run stepped.recipe
ok orch run copied.recipe -s copies=4
python3 - <<'P' || _fail 'what is recorded'
import glob, json, sqlite3
db = sqlite3.connect(".orch/results.db")
costs = [json.loads(r[0])["cost"] for r in db.execute("select facts from run order by id")]
assert {k: costs[0][k] for k in ("unit", "samples", "steps", "actors")} == \
    {"unit": "frames", "samples": 64, "steps": 100, "actors": 2}, costs[0]
assert "copies" not in costs[0] and costs[1]["copies"] == 4 and costs[1]["batch"] == 64, costs
P
ok orch predictor rows --target step_ms
has '256'

# what is no number or no member is an error that names it
plugin wrong 'images: "50000", batch: "${batch}", copies: "many"'
fails 7 orch plugin check ./wrong.plugin
has 'cost.copies'
plugin unknown 'images: "50000", batch: "${batch}", copy: "4"'
fails 4 orch check unknown.recipe
says "'copy'"
says 'copies, actors, steps'
