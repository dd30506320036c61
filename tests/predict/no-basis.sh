# What no measured step is of is named, as the interval is a guess there; and a chip that the analytical model was not fitted to has the interval
# of chips that were left out of the fit.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
ok orch predict --gpu MI300X --net resnet50
has 'no basis  the interval is a guess, because no measured step covers: the architecture CDNA3'
ok orch predict --gpu H100-SXM5 --net gpt2 --precision bf16 --compile
has 'no measured step covers: torch.compile'
has_not 'attention in one kernel in'
ok orch predict --gpu V100 --net gpt2 --precision fp32
has 'no measured step covers: attention in one kernel in fp32'
ok orch predict --gpu H100-SXM5 --net resnet50 --precision bf16 --json
case $(json predictions.0.no_basis) in 'bf16 (measurements of fp16 are used)') ;; *) _fail "$(json predictions.0.no_basis)" ;; esac
ok orch predict --gpu H100-SXM5 --net resnet50 --precision fp64
has 'no measured step covers: fp64 on this chip (measurements of other precisions are used)'
has_not 'of cases'
ok orch predict --gpu A100 --net resnet50 --precision fp64
has_not 'no basis'
printf 'gpu,net,batch,precision,step_ms\nH100-SXM5,resnet50,64,bf16,60\n' >bf16.csv
ok orch import bf16.csv --target step_ms
ok orch predict --gpu H100-SXM5 --net resnet50 --precision bf16 --batch 24
has_not 'no basis'
ok orch predict --gpu RTX-3090 --net resnet50
has_not 'no basis'
ok orch predict --gpu RTX-3090 --net resnet50 --json
same "$(json predictions.0.no_basis)" null 'measured'
width() { python3 -c 'import json, sys; p = json.loads(sys.argv[1])["predictions"][0]; print(round(p["step_high_s"] / p["step_s"], 3))' "$out"; }
known=$(width)
ok orch predict --gpu RTX-4090 --net resnet50 --json
new=$(width)
[ "${new#*.}" -gt "${known#*.}" ] || _fail "a chip that was not measured has a factor of $new, a measured one $known"
ok orch predict --gpu RTX-4090 --net resnet50
has_not 'no basis'
ok orch predict --gpu RTX-4090 --net resnet50 --model transferred
has ' of cases when chips were left out of the fit'
has '; this chip was not measured'

# sharded weights were measured of transformers in 16 bits on NVLink; another network, precision, chip or link has no basis, and the wider interval of a guess
guessed() {
    ok orch predict "$@"
    has 'sharded weights of such a network, precision and link'
    has 'the factor of 2.25 is a guess, because no such step was measured'
    has_not '209 published steps'
}
guessed --gpu V100 --net resnet50 --parallel fsdp=8 --network ethernet
guessed --gpu MI300X --net llama-3-8b --precision bf16 --parallel fsdp=8
guessed --gpu H100-SXM5 --net gpt2 --batch 8 --parallel fsdp=8
guessed --gpu H100-SXM5 --net gpt2 --batch 8 --precision bf16 --parallel fsdp=8 --network ethernet
guessed --gpu H100-SXM5 --net gpt2 --batch 8 --precision bf16 --parallel fsdp=8 --forward-only
guessed --gpu H100-SXM5 --net gpt2 --batch 8 --precision bf16 --parallel fsdp=16 --per-node 8 --network infiniband-edr
ok orch predict --gpu H100-SXM5 --net gpt2 --batch 32 --precision bf16 --parallel fsdp=8
has_not 'no basis'
has '209 published steps'
ok orch predict --gpu A100 --net gpt2 --batch 8 --parallel fsdp=8 --json
shards=$(width)
ok orch predict --gpu A100 --net gpt2 --batch 8 --parallel dp=8 --json
python3 -c "import sys; sys.exit(not $shards > $(width))" || _fail "a factor of $shards for shards, $(width) for replicas"
