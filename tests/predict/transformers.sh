# SPDX-License-Identifier: GPL-3.0-or-later
# Transformers on GPUs that nobody measured: published times that no constant was fitted to (whole networks of NeuSight,
# ASPLOS 2025), the switches of attention, compiler and power, and sizes that are typed.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
step() { # GPU NET OPTION...: seconds of a step
    local gpu=$1 net=$2
    shift 2
    ok orch predict --gpu "$gpu" --net "$net" --model transferred --json "$@"
    json predictions.0.step_s
}
near() { python3 -c "import math, sys; sys.exit(abs(math.log($1 / $2)) > $3)" || _fail "$1 is not near $2"; }
above() { python3 -c "import sys; sys.exit(not $1 > $2)" || _fail "$1 is not above $2"; }

near "$(step V100 gpt2-large --batch 4 --forward-only --precision fp32 --attention eager)" 0.72877 0.15
near "$(step P4 bert-large-mlm --batch 8 --forward-only --precision fp32 --attention eager)" 1.33196 0.25
near "$(step A100-PCIE-40GB gpt:32,2560,32 --tokens 2048 --batch 8 --forward-only --precision fp32-ieee --attention eager)" 7.26704 0.25
near "$(step MI210 bert-large-mlm --batch 2 --precision fp32 --optimizer sgd --attention eager)" 0.11534 0.25

# batch 1: the host's launches take longer than the kernels (BERT on milabench's H100: 35.9 ms in fp16, 29.8 in tf32); a compiler saves some
small=$(step H100 bert-base-mlm --batch 1 --precision fp16)
near "$small" 0.0359 0.25
near "$(step H100 bert-base-mlm --batch 1 --precision tf32)" 0.0298 0.25
above "$small" "$(step H100 bert-base-mlm --batch 1 --precision fp16 --compile)"
ok orch predict --gpu H100 --net bert-base-mlm --batch 1,64 --precision fp16 --model transferred --json
python3 -c 'import json, sys; a, b = json.loads(sys.argv[1])["predictions"]; sys.exit(not ("this host" in a["no_basis"] and not b["no_basis"] and a["step_high_s"] / a["step_s"] > 1.3 * b["step_high_s"] / b["step_s"]))' "$out" || _fail 'the interval of batch 1'

# attention in one kernel saves the traffic of its scores, a compiler that of the other kernels, a limit of power costs
eager=$(step V100 gpt2 --batch 4 --precision fp32 --attention eager)
fused=$(step V100 gpt2 --batch 4 --precision fp32)
above "$eager" "$fused"
above "$fused" "$(step V100 gpt2 --batch 4 --precision fp32 --compile)"
above "$(step V100 gpt2 --batch 4 --precision fp32 --watts 150)" "$fused"
above "$(step V100 gpt2 --batch 4 --precision fp32 --tokens 1024)" "$(step V100 gpt2 --batch 4 --precision fp32 --tokens 512)"
ok orch predict --gpu V100 --net gpt2 --precision fp32
has 'fused (scaled_dot_product_attention)  (--attention)'
has 'TFLOP/s of matrix products, from its units and its power'
ok orch predict --gpu H100 --net llama-3-8b --tokens 2048 --batch 1 --precision bf16
has 'not even one sequence'
ok orch predict --gpu A100 --net vit:6,384,6,16 --batch 64 --precision fp16
has 'images/s'
ok orch gpu show P4
has 'sustained fp32'
p4=$(orch gpu show P4 --json | python3 -c "import json, sys; print([f['value'] for f in json.load(sys.stdin)['facts'] if f['what'] == 'sustained fp32'][0])")
above 4.5 "$p4" # its 75 W do not carry its peak of 5.7

fails 2 orch predict --gpu V100 --net resnet50 --attention eager
says "option '--attention' is only for transformers, and 'resnet50' is not one"
fails 2 orch predict --gpu V100 --net gpt2 --attention flash
says "option '--attention': unknown value 'flash'"
fails 2 orch predict --gpu V100 --net gpt2 --tokens 128 --input 1x64x1
says "option '--tokens' excludes '--input'"
fails 2 orch predict --gpu V100 --net gpt:12,768
says "'12,768' is not LAYERS,WIDTH,HEADS"
fails 2 orch predict --gpu V100 --net gpt
says "network 'gpt' needs its sizes"

# a file: attention is found in its operations
ok orch net export gpt:2,256,4 -q -o small.onnx
for kind in fused eager; do
    whole=$(step V100 gpt:2,256,4 --batch 16 --forward-only --precision fp32 --attention $kind)
    near "$(step V100 small.onnx --batch 16 --forward-only --precision fp32 --attention $kind)" "$whole" 0.3
done
above "$(step V100 small.onnx --batch 16 --precision fp32 --attention eager)" "$(step V100 small.onnx --batch 16 --precision fp32)"
ok orch predict --gpu V100 --net small.onnx --precision fp32
has "the sum of the network's kernels"

# scores that attention writes out are kept for the backward pass
ok orch predict --gpu A100 --net bert-large-mlm --batch 8 --precision fp32 --attention eager --json
kept=$(json predictions.0.memory_bytes)
ok orch predict --gpu A100 --net bert-large-mlm --batch 8 --precision fp32 --json
python3 -c "import sys; sys.exit(abs(($kept - $(json predictions.0.memory_bytes)) / (24 * 16 * 512**2 * 9 * 8) - 1) > 0.01)" || _fail 'the scores'
