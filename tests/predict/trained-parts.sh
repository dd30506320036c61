# Trainings of a part of a network: frozen layers and adapters, of the zoo's networks and of files; parts of a network on several GPUs.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
step() {
    ok orch predict --gpu H100 --precision bf16 --batch 8 --json "$@"
    json predictions.0.step_s
}
less() { python3 -c 'import sys; a, b = map(float, sys.argv[1:]); sys.exit(not a < b)' "$1" "$2" || _fail "$1 is not less than $2"; }
whole=$(step --net gpt2)
two=$(step --net gpt2 --trainable 2)
half=$(step --net gpt2 --trainable 0.5)
less "$two" "$half"
less "$half" "$whole"
# of a small network the adapters' kernels outweigh what they spare
less "$whole" "$(step --net gpt2 --lora-rank 8)"
less "$(step --net llama-3-8b --tokens 2048 --lora-rank 8)" "$(step --net llama-3-8b --tokens 2048)"
# a number with a point is a share
ok orch predict --gpu H100 --net gpt2 --trainable 1.0
has 'the last 14 of 14 blocks'
ok orch predict --gpu H100 --net gpt2 --trainable 2
has 'trained         7,089,408 of 124,439,808 parameters (5.7 %): the last 2 of 14 blocks  (--trainable)'
ok orch predict --gpu H100 --net gpt2 --lora-rank 8 --precision bf16
has '1,179,648 of 125,619,456 parameters (0.939 %): adapters of rank 8 on 48 linear layers'
# a file says by itself what is frozen
cp "$SOURCE"/tests/operators/corpus/operators/attention.jsonl .
sed 's/"trainable":true/"trainable":false/' attention.jsonl >frozen.jsonl
sed 's/"trainable":false/"trainable":true/' attention.jsonl >free.jsonl
less "$(step --net frozen.jsonl --batch 4096)" "$(step --net free.jsonl --batch 4096)"
ok orch predict --gpu H100 --net free.jsonl --trainable 1
has 'blocks  (--trainable)'
ok orch predict --gpu H100 --net free.jsonl --lora-rank 4
has 'adapters of rank 4 on 4 linear layers'
for wrong in '--trainable 0' '--trainable 1.5' '--trainable -2' '--trainable all' '--lora-rank 0' '--lora-rank x' '--lora-rank 8 --trainable 2' \
    '--lora-rank 8 --forward-only' '--lora-rank 60000'; do
    fails 2 orch predict --gpu H100 --net gpt2 $wrong
done
fails 2 orch predict --gpu H100 --net resnet50 --lora-rank 8
says 'use --trainable'
# the store's runs are of networks that are trained as a whole: they do not answer for a part
ok orch predict --gpu V100 --net resnet50 --trainable 1 --json
same "$(json tier)" same-chip
# devices that share a network
ok orch predict --gpu H100 --net llama-3-8b --tokens 2048 --batch 4 --precision bf16 --optimizer adam --parallel fsdp=8
has '8 GPUs, 8 batches at a time; each holds 1/8 of the weights, gradients and optimizer states'
has '90 % of 209 published steps of 8 to 512 A100 and H100 with sharded weights lay within a factor of 1.17'
ok orch predict --gpu H100 --net llama-3-8b --tokens 2048 --batch 16 --precision bf16 --parallel tp=4,pp=2,dp=2 --per-node 8 --network infiniband-hdr --json
same "$(json predictions.0.workers) $(json predictions.0.fits)" '16 true'
printf '%s' "$out" | python3 -c 'import json, sys; p = json.load(sys.stdin)["predictions"][0]; assert abs(p["images_per_s"] * p["step_s"] - 32) < 1e-6' ||
    _fail 'two replicas of 16 are not 32 sequences a step'
ok orch predict --gpu H100 --net llama-3-8b --tokens 2048 --batch 16 --precision bf16 --parallel pp=4
has '16 micro-batches for 4 stages'
has '245 published steps'
# layers with adapters are split as those without
step() {
    ok orch predict --gpu H100 --net llama-3-8b --tokens 8192 --batch 1 --precision bf16 --lora-rank 16 --parallel $1 --json
    json predictions.0.step_s
}
whole=$(step dp=2) half=$(step tp=2)
python3 -c "assert $half < 0.7 * $whole" || _fail "two H100 that split layers with adapters take $half s, one takes $whole"
fails 2 orch predict --gpu H100 --net llama-3-8b --parallel tp=3
says "the 32 heads of layer"
for wrong in 'tp=2,tp=4' 'xp=2' 'dp=2,fsdp=2' 'tp=16 --per-node 8' 'dp=2 --workers 4' 'pp=2,micro=9 --batch 8'; do
    fails 2 orch predict --gpu H100 --net gpt2-xl --parallel $wrong
done
fails 2 orch predict --gpu H100 --net resnet50 --parallel tp=2
says "use 'dp', 'fsdp' or 'pp'"
# no run of the whole network narrows what is said of a part, so none is advised
ok orch predict --gpu A100 --net gpt2 --batch 16 --lora-rank 8
has_not narrower
ok orch predict --gpu A100 --net gpt2 --batch 16
has narrower
