# Activation checkpointing: the forward pass of the inner groups once more, and their activations once instead of all.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
ask() { ok orch predict --gpu A100 --precision fp16 --json "$@"; }
both() {
    ask "$@"; plain=$out
    ask "$@" --checkpointing
}
for net in gpt2-medium resnet50; do
    both --net $net --batch 8
    python3 - "$plain" "$out" <<'P' || _fail "$net: checkpointing is not counted"
import json, sys
a, b = (json.loads(t)["predictions"][0] for t in sys.argv[1:])
assert 1.15 < b["step_s"] / a["step_s"] < 1.36, (a["step_s"], b["step_s"])   # one pass in three more, of the device's part
assert b["memory_bytes"] < a["memory_bytes"] and b["largest_batch"] > a["largest_batch"], (a, b)
P
done
# 24 layers of GPT-2 keep an input each, and one layer all of its own; the scores over the vocabulary stay
python3 - "$(orch predict --gpu A100 --net gpt2-medium --batch 8 --json)" "$(orch predict --gpu A100 --net gpt2-medium --batch 8 --checkpointing --json)" <<'P' || _fail 'far too little is saved'
import json, sys
a, b = (json.loads(t)["predictions"][0]["largest_batch"] for t in sys.argv[1:])
assert b > 1.8 * a > 0, (a, b)
P
fails 2 orch predict --gpu A100 --net gpt2 --checkpointing --forward-only
says 'keeps no activations'
# with adapters every layer is computed again; below a part that is trained alone nothing is kept, and nothing computed again
both --net gpt2-medium --batch 8 --lora-rank 8
python3 - "$plain" "$out" <<'P' || _fail 'checkpointing with adapters'
import json, sys
a, b = (json.loads(t)["predictions"][0] for t in sys.argv[1:])
assert 1.2 < b["step_s"] / a["step_s"] < 1.6 and b["memory_bytes"] < 0.6 * a["memory_bytes"], (a, b)
P
both --net gpt2-medium --batch 8 --trainable 8
python3 - "$plain" "$out" <<'P' || _fail 'checkpointing of a part'
import json, sys
a, b = (json.loads(t)["predictions"][0] for t in sys.argv[1:])
assert 1 < b["step_s"] / a["step_s"] < 1.25 and 0.5 < b["memory_bytes"] / a["memory_bytes"] < 0.99, (a["memory_bytes"], b["memory_bytes"], a["step_s"], b["step_s"])
P
