# 'orch plan' and 'orch predict' give the same estimates: they share the rules for precision, the exchange between
# workers, the choice of a network, the price of a device and the store's own measurements.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
[ -e "$BUILD/fake_nvml/libnvidia-ml.so.1" ] || skip 'the build has no made-up GPUs'
export LD_LIBRARY_PATH=$BUILD/fake_nvml FAKE_NVML_COUNT=4
a100='NVIDIA A100-SXM4-40GB' v100='Tesla V100-SXM2-16GB'
plugin() { # NAME COST: a training that declares its cost
    cat >"$1.plugin" <<P
plugin: $1
version: 1.0.0
about: declares a cost
licence: MIT
command: [sh, -c, "for i in 1 2 3; do echo step_time 0.300; done"]
metrics_from: lines
parameters:
  net: {type: string, default: resnet18, help: network}
  batch: {type: int, default: 64, help: images}
  workers: {type: int, default: 1, help: GPUs that train together}
  precision: {type: string, default: fp32, help: precision}
  epochs: {type: int, default: 3, help: passes}
metrics:
  step_time: {unit: s, better: min, step: step, help: time}
cost: {network: "\${net}", input: "3x224x224", classes: "1000", images: "50000", batch: "\${batch}", workers: "\${workers}", epochs: "\${epochs}", training: "true"$2}
P
    printf 'format: 1\nrecipe: %s\nexperiments:\n  e: { plugin: ./%s.plugin, resources: { gpus: 4 } }\n' "$1" "$1" >"$1.recipe"
}
plugin said ', precision: "${precision}"'
plugin open ''
questions=0
# both PLUGIN DEVICE TIER NET BATCH WORKERS [PRECISION]
both() {
    questions=$((questions + 1))
    ok orch plan "$1.recipe" --force -s "net=$4" -s "batch=$5" -s "workers=$6" ${7:+-s "precision=$7"} --json
    same "$(json trials.0.forecast.tier)" "$3" "tiers of 'orch plan', question $questions,"
    local plan=$out
    ok orch predict --gpu "$2" --net "$4" --input 3x224x224 --classes 1000 --dataset 50000 --epochs 3 --batch "$5" --workers "$6" ${7:+--precision "$7"} --json
    python3 - "$plan" "$out" <<'P' || _fail "question $questions: $*"
import json, sys
plan, predict = map(json.loads, sys.argv[1:])
one, other = plan["trials"][0]["forecast"], predict["predictions"][0]
assert abs(one["total_s"] / other["total_s"] - 1) < 1e-9, (one["total_s"], other["total_s"], other["precision"])
assert one["tier"] == other["tier"], (one["tier"], other["tier"])
assert plan["forecast"]["usd_per_hour"] == other["usd_per_hour"], (plan["forecast"]["usd_per_hour"], other["usd_per_hour"])
assert plan["forecast"]["price_from"] == other["price_from"]
P
}
export FAKE_NVML_MODEL=$a100
both said "$a100" same-step resnet18 64 1 fp32
both said "$a100" same-step resnet18 64 1 tf32
both said "$a100" same-step resnet50 128 1 fp16
both said "$a100" same-step vgg16 32 1 bf16
both said "$a100" same-step resnet18 64 4 fp32
both said "$a100" same-step resnet18 64 1 half
both open "$a100" same-step resnet50 64 2
export FAKE_NVML_MODEL=$v100
both said "$v100" same-chip resnet18 64 1 fp32
both said "$v100" same-step resnet50 32 4 float16
# workers are what the plugin declares, not the GPUs that the trial is given
export FAKE_NVML_MODEL=$a100
ok orch plan said.recipe -s net=vgg16 --json
one=$(json trials.0.forecast.total_s)
ok orch predict --gpu "$a100" --net vgg16 --input 3x224x224 --classes 1000 --dataset 50000 --epochs 3 --batch 64 --json
python3 -c 'import sys; a, b = map(float, sys.argv[1:]); sys.exit(not abs(a / b - 1) < 1e-12)' "$one" "$(json predictions.0.total_s)" ||
    _fail "a trial of one worker on four GPUs takes $one s, predicted were $(json predictions.0.total_s)"
# what the store measured answers both: the record says fp32, which an A100 multiplies in tf32
export FAKE_NVML_MODEL=$a100
ok orch run said.recipe
ok orch predict --gpu "$a100" --net resnet18 --input 3x224x224 --classes 1000 --dataset 50000 --epochs 3 --batch 64 --json
same "$(json tier) $(json predictions.0.step_s) $(json predictions.0.precision)" 'measured 0.3 tf32'
both open "$a100" measured resnet18 64 1
export FAKE_NVML_MODEL=$v100
both said "$v100" same-chip resnet18 64 1 fp32
both open "$v100" same-step resnet50 32 2
same $questions 12
# a question without a precision takes what the records of that network have, and says so
export FAKE_NVML_MODEL=$a100
ok orch run said.recipe -s net=resnet34 -s precision=fp16
ok orch predict --gpu "$a100" --net resnet34 --input 3x224x224 --classes 1000 --dataset 50000 --batch 64 --json
same "$(json tier) $(json predictions.0.precision)" 'measured fp16'
ok orch predict --gpu "$a100" --net resnet34 --input 3x224x224 --classes 1000 --dataset 50000 --batch 64
has 'fp16, as in the runs of this network'
fails 2 orch predict --gpu "$a100" --net vgg16 --precision fp31
says 'use fp64, fp32, fp32-ieee, tf32, fp16, bf16, fp8, fp4 or auto'
