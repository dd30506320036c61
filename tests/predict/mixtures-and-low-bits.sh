# Mixtures of experts, fp8 and fp4, adapters on weights of 4 and 8 bits, and the best of all ways to share a training.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
holds() { python3 -c "import sys; sys.exit(not ($1))" || _fail "$1"; }
ask() { # OPTION...: tokens a second, bytes
    ok orch predict --json "$@"
    speed=$(json predictions.0.tokens_per_s) bytes=$(json predictions.0.memory_bytes)
}

# a mixture takes the time of what a token goes through, and the memory of all experts
mixtral=(--gpu H100 --tokens 4096 --precision bf16 --batch 1)
ask "${mixtral[@]}" --net Mixtral-8x7B --forward-only
mixture=$speed all=$bytes
holds "$all > 2 * 46.7e9"
ask "${mixtral[@]}" --net llama:32,4096,32,8,28672 --forward-only # as wide as two of the experts
holds "0.7 < $mixture / $speed < 1 and $all > 3 * $bytes"
ok orch predict "${mixtral[@]}" --net Mixtral-8x7B
has 'no measured step covers: a mixture of experts'
# the bands that NVIDIA publishes for Megatron on H100, in TFLOP/s of a token's parameters and causal attention (docs.nvidia.com, Megatron Bridge,
# MoE Hardware Configuration Reference): low 200s
ok orch predict --gpu H100 --net Qwen3-30B-A3B --tokens 4096 --batch 64 --precision bf16 --parallel fsdp=16,ep=8,micro=16 --per-node 8 \
    --network infiniband-ndr --json
rate=$(python3 -c "print($(json predictions.0.tokens_per_s) / 16 * (6 * (3353032704 - 151936 * 2048) + 6 * 48 * 4096 * 4096) / 1e12)")
holds "200 / 1.35 < $rate < 235 * 1.35"

# experts divided among replicas: less memory than each with all of them, and tokens are sent
ok orch predict --gpu H100 --net Mixtral-8x7B --tokens 4096 --batch 1 --precision bf16 --parallel dp=8 --json
whole=$(json predictions.0.memory_bytes)
ok orch predict --gpu H100 --net Mixtral-8x7B --tokens 4096 --batch 1 --precision bf16 --parallel dp=8,ep=8 --json
holds "$(json predictions.0.memory_bytes) < $whole / 4 and $(json predictions.0.exposed_exchange_s) > 0"
fails 2 orch predict --gpu H100 --net Mixtral-8x7B --precision bf16 --parallel fsdp=16,ep=16
says "the 8 experts of 'mixtral-8x7b' cannot be divided evenly among 16"
fails 2 orch predict --gpu H100 --net gpt2 --parallel fsdp=8,ep=8
says "'ep' is for mixtures of experts, and 'gpt2' is not one"
fails 2 orch predict --gpu H100 --net Mixtral-8x7B --parallel tp=2,ep=2
says "has a number of replicas ('dp' or 'fsdp') that 'ep' does not divide"

# fp8 and fp4 where the chip has them
ask --gpu B200 --net llama-3-8b --tokens 4096 --batch 8 --precision bf16
bf16=$speed
ask --gpu B200 --net llama-3-8b --tokens 4096 --batch 8 --precision fp8
fp8=$speed
same "$(json predictions.0.precision)" fp8
ask --gpu B200 --net llama-3-8b --tokens 4096 --batch 8 --precision fp4
holds "$bf16 < $fp8 < $speed < 4 * $bf16"
fails 2 orch predict --gpu V100 --net gpt2 --precision fp8
says 'V100-SXM2-16GB has no known tensor cores for fp8'
says 'H100-SXM5'
fails 2 orch predict --gpu H100 --net gpt2 --precision fp4
says 'or a GPU that has them: RTX-5090, B200'
fails 2 orch predict --gpu H100 --net resnet50 --precision fp8
says "steps in fp8 are forecast only for transformers, and 'resnet50' is not one"
fails 2 orch paleo --gpu H100 --net resnet50 --precision fp8
says "there is no forecast of steps in 'fp8'"

# QLoRA: the 7 billion weights of linear layers at 2, 1 and 0.516 bytes, written out for both passes
lora=(--gpu H100 --net llama-3-8b --tokens 2048 --batch 1 --precision bf16 --lora-rank 16)
ask "${lora[@]}"
plain=$bytes fast=$speed
ask "${lora[@]}" --base-bits 8
holds "abs(($plain - $bytes) / 6979321856 - 1) < 0.01"
ask "${lora[@]}" --base-bits 4
holds "abs(($plain - $bytes) / 6979321856 - (2 - 0.5159)) < 0.01 and 0.8 * $fast < $speed < $fast"
ok orch predict "${lora[@]}" --base-bits 4
has 'frozen weights are held in 4 bits in linear layers'
has 'weights held in 8 or 4 bits'
fails 2 orch predict --gpu H100 --net llama-3-8b --base-bits 4
says "option '--base-bits' needs '--lora-rank'"
fails 2 orch predict "${lora[@]}" --base-bits 3
says "option '--base-bits': unknown value '3'"

# the best way is as fast as any that fits, and each slower one of the front needs less memory
for best in '8xMI300X --net qwen3-30b-a3b --tokens 4096 --batch 1 --precision bf16 --checkpointing' '8xH100 --net resnet50' \
    '8xA100-SXM4-80GB --net llama-3-8b --tokens 4096 --batch 2 --precision bf16'; do
    ok orch predict --gpu $best --parallel best --json
    python3 - "$out" <<'E2' >ways || _fail "the front of $best"
import json, sys
d = json.loads(sys.argv[1])
ways = d["ways"]
assert len(ways) > 1 and all(w["fits"] for w in ways)
assert all(a["memory"] > b["memory"] for a, b in zip(ways, ways[1:]))
assert all(a["step"] <= b["step"] for a, b in zip(ways, ways[1:]))
assert d["predictions"][0]["step_s"] == ways[0]["step"]
for w in ways:
    print(w["parallel"], w["batch_of_a_replica"], w["step"], w["memory"])
E2
    while read -r way batch step memory; do # parts of the network are kept from way to way
        ok orch predict --gpu $best --batch "$batch" --parallel "$way" --json
        same "$(json predictions.0.step_s) $(json predictions.0.memory_bytes)" "$step $memory" "$best, $way"
    done <ways
done
ok orch predict --gpu $best --parallel best --json
seconds=$(json predictions.0.step_s)
for way in fsdp=8:2 fsdp=4,tp=2:4 pp=8,micro=16:16 tp=8:16; do
    ok orch predict --gpu A100-SXM4-80GB --net llama-3-8b --tokens 4096 --batch "${way#*:}" --precision bf16 --parallel "${way%:*}" --json
    holds "$seconds <= $(json predictions.0.step_s) or '$(json predictions.0.fits)' != 'True'"
done
ok orch predict --gpu 2xV100 --net llama-3-8b --precision fp16 --parallel best
has 'no '
fails 2 orch predict --gpu H100 --net gpt2 --parallel best
says 'one batch among 2 to 1024 GPUs'
fails 2 orch predict --gpu 8xH100 --net gpt2 --parallel fsdp=4
says "'fsdp=4' uses 4 devices, but --gpu or --workers gives 8"
ok orch predict --gpu 8xH100 --net gpt2 --parallel fsdp=8
fails 2 orch predict --gpu V100,H100 --workers 4 --net gpt2 --parallel best
says "'best' works with one model of GPU, not with several"

# serving is refused, and what there is instead is said
for words in '--net gpt2 serving' '--net vllm' 'vLLM --net gpt2'; do
    # shellcheck disable=SC2086
    fails 2 orch predict --gpu H100 $words
    says 'serving is not forecast'
    says '--forward-only'
done
ok orch predict --gpu H100 --net gpt2 --forward-only
has 'serving, which makes token after token, is not forecast'
# a TPU multiplies in bf16 alone, so that is what is asked
ok orch predict --gpu 'TPU v5e' --net gpt2 --batch 8
has 'bf16, as no peak in fp32 is known'
fails 2 orch predict --gpu 'TPU v5e' --net gpt2 --batch 8 --precision fp32
says 'has no known peak speed at fp32'
