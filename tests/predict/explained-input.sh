# The work that --explain shows, and that a predictor learns from, is that of the asked input, not of the network's usual one.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
. "$(dirname "$0")/../learn/fake_training.sh"
# gmacs SIZE: multiply-adds of an image in 10^9, of 'orch predict --explain' and of 'orch net show'
check() { # SIZE OPTION...
    size=$1
    shift
    ok orch predict --net resnet50 --input "3x${size}x$size" --batch 24 --explain --json "$@"
    python3 - "$out" "$(orch net show resnet50 --input "3x${size}x$size" --json)" <<'P' || _fail "the work of $size x $size is another one"
import json, sys
explained = json.loads(sys.argv[1])["predictions"][0]["explanation"]["features"]
macs = json.loads(sys.argv[2])["multiply_adds"] / 1e9
of = {f["name"]: f["value"] for f in explained}
assert abs(of["work gmacs"] / macs - 1) < 0.01 and abs(of["work gflop"] / (2 * 24 * 3 * macs) - 1) < 0.1, (of["work gmacs"], of["work gflop"], macs)
P
}
for size in 32 64 224; do check $size --gpu V100 --precision fp32; done
# a predictor of runs with images of 64 x 64, asked for them and for others
fake_training resnet50 3x64x64 0.0009
ok orch run f.recipe --no-progress
ok orch predictor rows --json
printf 'gpus:\n  - { name: "%s", like: T4 }\n' "$(json rows.0.gpu)" >hardware.yaml
gpu=$(json rows.0.gpu)
export ORCH_HARDWARE=$PWD/hardware.yaml
check 64 --gpu "$gpu" --precision fp32
same "$(json tier)" fitted 'the predictor answers'
check 32 --gpu "$gpu" --precision fp32
