# The steps of one's runs as a table for others: public names, sizes and times; a colleague imports it and forecasts by it.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
[ -e "$BUILD/fake_nvml/libnvidia-ml.so.1" ] || skip 'the build has no made-up GPUs'
export LD_LIBRARY_PATH=$BUILD/fake_nvml FAKE_NVML_COUNT=1 FAKE_NVML_MODEL='NVIDIA A100-SXM4-40GB'
fails 3 orch measurements share
runs() { # NAME NETWORK MILLISECONDS [INPUT]
    cat >"$1.plugin" <<P
plugin: $1
command: [sh, -c, "echo step_time \${ms}"]
parameters: { batch: 64, ms: 300 }
metrics:
  step_time: {unit: ms, better: min, step: step, help: time}
cost: {network: $2, input: ${4:-3x224x224}, training: "true", precision: fp16, images: "50000", epochs: "3", batch: "\${batch}"}
P
    printf 'format: 1\nrecipe: %s\nexperiments:\n  secret-%s: { plugin: ./%s.plugin, resources: { gpus: 1 } }\n' "$1" "$1" "$1" >"$1.recipe"
    ok orch run "$1.recipe" -s "ms=$3"
}
runs ours resnet18 300
ok orch measurements share -o steps.set
says "1 row for 'orch import'; 0 left out"
runs hidden ./private/net.onnx 100
runs again ResNet-18 310
ok orch measurements share -o steps.set
says "2 rows for 'orch import'; 1 left out"
python3 - "$(id -un)" "$(hostname)" <<'P' || _fail 'what is shared'
import json, sys
text = open("steps.set").read()
lines = text.splitlines()
assert [json.loads(l)[:3] for l in lines[1:]] == [[300, "A100-SXM4-40GB", "resnet18"], [310, "A100-SXM4-40GB", "resnet18"]], lines
for word in ["secret", "private", "ours", "hidden", "recipe", "who", "/"] + [w for w in sys.argv[1:] if len(w) > 3]:
    assert word not in text, word
P
cp steps.set first.set
ok orch measurements share
same "$out" "$(cat first.set)"
# a colleague's store, and what it forecasts by
ask=(orch --db mine.db predict --gpu A100-SXM4-40GB --net resnet18 --batch 64 --precision fp16 --json)
ok orch --db mine.db import steps.set
has 'steps-'
ok orch --db mine.db import steps.set
ok orch --db mine.db measurements ls --json
same "$(json measurements.0.rows)" 2
ok "${ask[@]}"
same "$(json predictions.0.tier)" same-step
has 'steps of steps-'
# what the forecast was off by is said with the runs that correct it
ok orch predict --gpu A100-SXM4-40GB --net resnet50 --batch 64 --precision fp16
python3 -c 'import re, sys; sys.exit(not float(re.search(r"; 1 setting run here, ([0-9.]+) times the analytical time", sys.argv[1])[1]) > 5)' "$out" || _fail 'how slow the runs were'
# runs of the network decide what other batches take, and an option that no run says it had is no setting that was measured
ask() { ok orch predict --gpu A100-SXM4-40GB --precision fp16 --batch 64 --json "$@"; }
near() { # MILLISECONDS: inside the interval, and at most a tenth from the answer
    python3 -c 'import json, sys; p = json.loads(sys.argv[2])["predictions"][0]; t = float(sys.argv[1]) / 1e3
sys.exit(not (p["step_low_s"] <= t <= p["step_high_s"] and abs(t / p["step_s"] - 1) < 0.1))' "$1" "$out" || _fail "$1 ms"
}
runs slow resnet34 80
ask --net resnet34 --batch 63
near 79
runs tokens gpt2 200 1x1024x1
ask --net gpt2 --optimizer adamw --loss plain --attention fused
same "$(json predictions.0.tier) $(json predictions.0.step_s)" 'measured 0.2' 'what is assumed anyway'
ask --net gpt2 --batch 63
near 197
for other in --compile '--attention eager' '--optimizer sgd' '--loss fused' '--watts 200'; do
    ask --net gpt2 $other
    same "$(json predictions.0.tier)" same-chip "$other"
done
