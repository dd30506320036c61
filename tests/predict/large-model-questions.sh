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
# more GPUs than a usual node has are in several, which is the first assumption; a rack of GB200 is one NVLink domain
ok orch predict --gpu H100 --net gpt2 --parallel fsdp=16 --precision bf16
same "$(printf '%s\n' "$out" | sed -n '/^assumptions/{n;p}')" \
    '  link            infiniband-ndr, 400 Gbit/s a GPU between nodes of 8 GPUs (usual for this GPU), nvlink4 within a node  (--network, --per-node)'
step() {
    ok orch predict --net gpt2 --precision bf16 --batch 1 "$@" --json
    json predictions.0.step_s
}
same "$(step --gpu 16xH100)" "$(step --gpu 16xH100 --network infiniband-ndr --per-node 8)" 'the usual nodes'
same "$(step --gpu 12xA100)" "$(step --gpu 12xA100 --network infiniband-hdr --per-node 6)" 'nodes of equally many GPUs'
while read -r gpu ways link; do
    ok orch predict --gpu $gpu --net gpt2 --precision bf16 $ways
    has "$link"
    has_not 'usual for this GPU'
done <<'N'
H100 --parallel=fsdp=8 nvlink4, 3600 Gbit/s, all workers in one node
72xGB200 --batch=1 nvlink5-nvl72, 7200 Gbit/s, all workers in one node
8xH100 --per-node=8 nvlink4, 3600 Gbit/s, all workers in one node
N
ok orch predict --gpu H100,V100 --workers 16 --net gpt2
has "each GPU's usual, in a node and between nodes"
fails 2 orch predict --gpu H100 --net gpt2-medium --parallel tp=16
says 'H100-SXM5 is usually in nodes of 8 GPUs, which cannot split layers so'
ok orch predict --gpu GB200 --net gpt2-medium --parallel tp=16
fails 2 orch predict --gpu 512xTPU-v5e --net gpt2
says 'add --network and --per-node'
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
