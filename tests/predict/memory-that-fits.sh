# What ran is said to fit: micro-batches of MosaicML's trainings (llm-foundry, scripts/train/benchmarking), with shards on cards of 40 and 80 GB. And what
# PyTorch's own trackers count of a GPT for each sample (torch.distributed._tools.mem_tracker, PyTorch 2.11) is what is kept.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
runs() { # GPU NETWORK TOKENS MICRO ACCUMULATIONS [OPTION]
    gpu=$1 net=$2 tokens=$3 micro=$4 times=$5
    shift 5
    ok orch predict --gpu "$gpu" --net "$net" --classes 50368 --tokens "$tokens" --batch $((micro * times)) --precision bf16 --optimizer adam \
        --loss fused --parallel "fsdp=8,micro=$times" "$@" --json
    same "$(json predictions.0.fits)" true "$gpu $net $tokens $micro"
    # nor is there room for more than thrice as many, since the authors chose large ones
    python3 -c "import sys; sys.exit(not $(json predictions.0.largest_batch) <= 3 * $micro * $times)" || _fail "$net: $(json predictions.0.largest_batch)"
}
runs A100-SXM4-40GB mpt:24,2048,16 2048 8 8
runs A100-SXM4-40GB mpt:24,1024,16 2048 16 4
runs A100-SXM4-40GB mpt:40,5120,40 2048 4 16 --checkpointing
runs A100-SXM4-80GB mpt:24,1536,12 2048 24 2
runs A100-SXM4-80GB mpt:32,4096,32 2048 6 2
runs H100-SXM5 mpt:48,7168,56 2048 3 21 --checkpointing

# a sample more, in MiB: of 16 h values a layer in fp32, and of 36 h bytes under autocast; each score has 16 and 14 bytes, and 4 and 2 that stay reserved
sample_mib() {
    ok orch predict --gpu H100 --net mpt:24,1024,16 --classes 50257 --tokens 1024 --optimizer adam --batch 16 "$@" --json
    a=$(json predictions.0.memory_bytes)
    ok orch predict --gpu H100 --net mpt:24,1024,16 --classes 50257 --tokens 1024 --optimizer adam --batch 32 "$@" --json
    python3 -c "print(($(json predictions.0.memory_bytes) - $a) / 16 / 2**20)"
}
near_mib() { python3 -c "import sys; sys.exit(abs($1 / $2 - 1) > 0.02)" || _fail "$1 MiB a sample, PyTorch counts $2"; }
near_mib "$(sample_mib --precision fp32-ieee)" "(2331.2 + 4 * 50257 * 1024 / 2**20)"
near_mib "$(sample_mib --precision bf16)" "(1559.0 + 2 * 50257 * 1024 / 2**20)"

# a fused loss saves three values in fp32 of each score
python3 -c "import sys; sys.exit(abs($(sample_mib --precision bf16) - $(sample_mib --precision bf16 --loss fused) - 12 * 50257 / 1024) > 0.1)" || _fail 'a fused loss'
fails 2 orch predict --gpu H100 --net resnet50 --loss fused
says "option '--loss' is only for language models, and 'resnet50' is not one"
fails 2 orch predict --gpu H100 --net gpt2 --loss chunky
says "option '--loss': unknown value 'chunky'"

# vendors' gigabytes are 2^30 bytes; error correction takes a sixteenth of GDDR
ok orch predict --gpu A100-SXM4-80GB --net gpt2 --batch 1
has ' of 79.0 GiB per worker'
ok orch predict --gpu L40S --net gpt2 --batch 1
has ' of 44.4 GiB per worker'
printf 'gpus:\n  - { name: L4-MINE, like: L4 }\n' >hardware.yaml
ORCH_HARDWARE=hardware.yaml ok orch predict --gpu L4-MINE --net gpt2 --batch 1
has ' of 23.7 GiB per worker'
ok orch predict --gpu L4 --net gpt2 --batch 1
has ' of 22.2 GiB per worker'
fails 2 orch predict --gpu H100 --net gpt2 --loss fused --forward-only
says "option '--loss' excludes '--forward-only'"

# of gradients and activations the larger one counts, wherever memory is shown
ok orch net show gpt2 --json
shown=$(json memory_training.total)
python3 -c "import sys; sys.exit($shown != $(json memory_training.weights) + $(json memory_training.optimizer) + max($(json memory_training.gradients), $(json memory_training.activations)))" ||
    _fail "net show: $shown"
ok orch net show gpt2
has 'memory, training 2.5 GiB'

# counts that no integer holds are refused
for many in 'gpt:12,768,12 --batch 512' 'gpt:96,12288,96 --batch 4' llama:400,65536,64; do
    fails 2 orch net show $many --input 1x1048576x1
    says 'are too many to count'
done
fails 2 orch predict --gpu H100 --net llama:400,65536,64 --tokens 1048576
says 'are too many to count'
fails 2 orch predict --gpu H100 --net gpt:12,768,12 --tokens 1048576 --batch 1,16777216
says 'are too many to count'
ok orch net show gpt:12,768,12 --input 1x1048576x1
has_not ' -'
