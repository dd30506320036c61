# What a user of large models asks besides: what a million tokens cost, in which precision PyTorch multiplies by default, a part of a GPU,
# many GPUs of one node; and each GPU once where no data set makes prices differ.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
ok orch predict --gpu H100-SXM5 --net llama-3-8b --tokens 2048 --batch 1 --precision bf16 --parallel fsdp=8
has '; a million cost $'
ok orch predict --gpu H100-SXM5 --net llama-3-8b --tokens 2048 --batch 1 --precision bf16 --parallel fsdp=8 --json
python3 -c "import sys; sys.exit(abs($(json predictions.0.million_tokens_usd) / (8 * $(json predictions.0.usd_per_hour) * 1e6 / 3600 / $(json predictions.0.tokens_per_s)) - 1) > 1e-6)" ||
    _fail 'a million tokens'

# products of matrices are in fp32 unless tf32 is allowed, convolutions in tf32
ok orch predict --gpu A100 --net gpt2 --batch 1 --json
same "$(json predictions.0.precision)" fp32-ieee
ok orch predict --gpu A100 --net gpt2 --batch 1
has "fp32-ieee, PyTorch's default for matrices"
ok orch predict --gpu A100 --net resnet50 --json
same "$(json predictions.0.precision)" tf32
ok orch predict --gpu A100 --net gpt2 --batch 1 --precision fp32 --json
same "$(json predictions.0.precision)" tf32
ok orch predict --gpu V100 --net gpt2 --batch 1 --json
same "$(json predictions.0.precision)" fp32

ok orch predict --gpu V100,A100,H100 --net resnet50 --input 3x100x100
same "$(printf '%s\n' "$out" | grep -c '^[AHV]100-')" 3 'each GPU once without costs'
ok orch predict --gpu V100,A100,H100 --net gpt2-medium --precision fp16 --batch 4
[ "$(printf '%s\n' "$out" | grep -c '^[AHV]100-')" -gt 3 ] || _fail 'with a price of tokens, each cloud'
has 'million tokens'
ok orch predict --gpu V100,A100,H100 --net gpt2-medium --precision fp16 --batch 4 --dataset 10000
[ "$(printf '%s\n' "$out" | grep -c '^[AHV]100-')" -gt 3 ] || _fail 'with costs, each cloud'

fails 2 orch predict --gpu 'A100-SXM4-40GB MIG 3g.20gb' --net resnet50
says 'describe the part of the GPU (MIG) in a file'
for slice in 4g.20gb 'A100 7g.80gb' h100-1g.10gb; do
    fails 2 orch predict --gpu "$slice" --net resnet50
    says 'describe the part of the GPU (MIG) in a file'
done
for other in MIGHTY-100 9g.80gb; do
    fails 2 orch predict --gpu "$other" --net resnet50
    says_not '(MIG)'
done
# what does not fit costs nothing
ok orch predict --gpu A100-80 --net llama-3-8b --batch 1 --precision fp32-ieee
has 'tokens: '
has_not 'a million cost'
ok orch predict --gpu A100-80 --net llama-3-8b --batch 1 --precision fp32-ieee --json
same "$(json predictions.0.million_tokens_usd)" null 'what does not fit'
ok orch predict --gpu H100 --net gpt2 --parallel fsdp=16 --precision bf16
has 'all workers in one node (usually at most 8)'
ok orch predict --gpu H100 --net gpt2 --parallel fsdp=8 --precision bf16
has_not 'usually at most 8'
# GPUs that fit stand before those that do not, also where nothing like them was measured; a hint names only options that were given
ok orch predict --gpu MI300X,RTX-3050 --net llama-3-8b --tokens 2048 --batch 4 --precision bf16
same "$(printf '%s\n' "$out" | sed -n '2s/ .*//p')" MI300X
while IFS='|' read -r options hint; do
    ok orch predict --gpu V100S,RTX-3050 --net resnet50 --dataset 10000 --batch 8 $options
    has "$hint"
done <<'N'
|no price is known: add --price
--cloud aws|no price is known there: leave out --cloud
--spot|no price is known there: leave out --spot
--cloud aws --spot|no price is known there: leave out --cloud and --spot
N
ok orch predict --gpu MI300X --net llama-3-8b --batch 1 --precision bf16 --tokens 2048
has "matrix products in bf16 on AMD's GPUs; attention in one kernel in bf16 on AMD's GPUs"
