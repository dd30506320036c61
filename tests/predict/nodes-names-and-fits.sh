# What a sceptical reader finds in answers: a link between nodes that nobody named, a run that cannot be made, names of GPUs as people write them.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
# NVLink ends at the node
fails 2 orch predict --gpu H100 --net resnet50 --workers 8 --per-node 4
says '8 workers with 4 in each node need a network between the nodes'
says 'add a network'
fails 2 orch predict --gpu H100 --net gpt2 --parallel dp=4,tp=2 --per-node 4
ok orch predict --gpu H100 --net resnet50 --workers 1,4 --per-node 4
has 'nvlink4, 3600 Gbit/s, all workers in one node; ring all-reduce during the backward pass'
# a network is between nodes: those who are in one do not use it
for ways in '--workers 8 --net vgg16' '--parallel fsdp=8 --net gpt2' '--parallel tp=2,pp=4 --net gpt2' '--parallel dp=8 --net gpt2'; do
    ok orch predict --gpu B200 $ways --json
    alone=$(json predictions.0.step_s)
    ok orch predict --gpu B200 $ways --network infiniband-hdr --per-node 8 --json
    same "$(json predictions.0.step_s)" "$alone" "$ways"
done
ok orch predict --gpu H100 --net resnet50 --workers 4,8 --per-node 4 --network ethernet25
has 'ethernet25, 25 Gbit/s a node between nodes of 4 GPUs, nvlink4 within a node; hierarchical all-reduce during the backward pass'
ok orch predict --gpu H100 --net resnet50 --workers 4 --scheme tree
has 'all workers in one node; tree all-reduce'
# the interval that is said is that of the answer
while read -r options; do
    ok orch predict $options --json
    answer=$out
    ok orch predict $options
    python3 - "$answer" "$out" <<'E' || _fail "the interval of $options"
import json, re, sys
p = json.loads(sys.argv[1])["predictions"][0]
text = re.sub(r"\s+", " ", sys.argv[2])
both = re.findall(r" interval within a factor of ([\d.]+)", text) * 2
found = re.findall(r" interval .{0,60}: within a factor of ([\d.]+) below .{0,50} and ([\d.]+) above", text)
assert (found or [tuple(both)]) == [("%.2f" % (p["step_s"] / p["step_low_s"]), "%.2f" % (p["step_high_s"] / p["step_s"]))], (found, p)
E
done <<'N'
--gpu 8xH100 --net llama-3-8b --tokens 2048 --batch 1 --parallel fsdp=8 --precision bf16
--gpu H100 --net llama-3-8b --tokens 2048 --batch 8 --parallel fsdp=4,tp=2 --precision bf16
--gpu H100 --net llama-3-8b --tokens 2048 --batch 1 --parallel fsdp=64 --precision bf16 --network infiniband-ndr --per-node 8
--gpu 2xH100 --net bert-base
--gpu 2xRTX-4090 --net resnet50
--gpu 2xH100 --net resnet50 --model prior
--gpu 8xV100 --net resnet50 --parallel dp=8
--gpu 8xV100 --net resnet50
--gpu V100 --net resnet50
N
# a batch that does not fit cannot be measured
ok orch predict --gpu T4 --net resnet50 --batch 2048
has "narrower  measured steps of a batch that fits would narrow the interval ('orch run')"
has_not '20 steps'
ok orch predict --gpu T4 --net resnet50 --batch 2048 --json
same "$(json predictions.0.narrower)" null 'narrower'
ok orch predict --gpu T4 --net resnet50 --batch 32
has '20 steps'
# several devices: replicas keep copies of gradients
memory() {
    ok orch predict --gpu A100 --net resnet50 --json "$@"
    json predictions.0.memory_bytes
}
one=$(memory)
two=$(memory --workers 2)
python3 -c 'import sys; assert abs(float(sys.argv[2]) - float(sys.argv[1]) - 4 * 25557032) < 1, sys.argv' "$one" "$two" || _fail 'buckets'
# the memory behind the name chooses the variant
while IFS='|' read -r name gpu; do
    ok orch gpu show "$name" --json
    same "$(json facts.0.value)" "$gpu" "$name"
done <<'N'
A100-80|A100-SXM4-80GB
A100-40|A100-SXM4-40GB
V100-32|V100-SXM2-32GB
H100-80GB|H100-SXM5
RTX 3090 24GB|RTX-3090
1080|GTX-1080
N
fails 2 orch gpu show A100-123
# precisions that exist, and that there is no forecast of
fails 2 orch predict --gpu H100 --net vit_b_16 --precision int8
says "there is no forecast of steps in 'int8'"
fails 2 orch predict --gpu H100 --net vit_b_16 --precision int9
says "unknown value 'int9'"
# every token a second is not known to a tenth
ok orch predict --gpu H100 --net gpt2 --batch 16
python3 -c 'import re, sys; assert re.search(r"tokens: \d+0 a second, 1024 in a sequence", sys.argv[1]), sys.argv[1]' "$out" || _fail 'tokens'
