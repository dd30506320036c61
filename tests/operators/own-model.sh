# A model of one's own by its operators: counts and forecasts of a file, what is not known is said, lengths of sequences.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
cp "$SOURCE"/tests/operators/corpus/operators/*.jsonl .
ok orch net show attention.jsonl --work
has 'attention.q'
has '32*32*64*1 = 65,536'
says "operator 'mylib::twist' is not known, so only bytes"
says "('unused.weight'; 7 elements) is used by no operator"
ok orch predict --net attention.jsonl --gpu H100 --batch 16 --precision bf16
has 'tier transferred: the sum of the network'
has 'eager in the file: scores in memory'
has 'tokens: '
has 'memory: '
says "operator 'mylib::twist' is not known"
ok orch predict --net attention.jsonl --gpu H100 --batch 16 --attention fused
has 'fused (scaled_dot_product_attention)'
ok orch predict --net attention.jsonl --gpu H100 --tokens 4096 --batch 64 --json
long=$(json predictions.0.step_s)
ok orch predict --net attention.jsonl --gpu H100 --batch 64 --json
python3 -c 'import sys; sys.exit(not float(sys.argv[1]) > 20 * float(sys.argv[2]))' "$long" "$(json predictions.0.step_s)" ||
    _fail "64 times the tokens take $long s"
# an image's sizes are those of the file, whatever the data set has
ok orch predict --net image.jsonl --gpu V100 --dataset imagenet
has '90 (He et al. 2015)'
has '3x32x32'
fails 2 orch predict --net image.jsonl --gpu V100 --input 3x64x64
says 'the input of 3x32x32 is fixed'
fails 2 orch predict --net image.jsonl --gpu V100 --classes 10
says 'leave --classes out'
# fixed sizes: a sample is the batch, another length of sequences is refused
ok orch predict --net fixed.jsonl --gpu V100
says 'the batch of 4 is fixed'
fails 2 orch predict --net fixed.jsonl --gpu V100 --tokens 32
says 'the length of its sequences is fixed at 64 tokens (it does not run)'
for bad in later huge cut; do
    fails 2 orch net show $bad.jsonl
    says "'$bad.jsonl', line 2: "
    says 'export the model again'
done
# the function that writes such files refuses what it cannot write, with a hint
python3 - "$SOURCE/share/python" <<'E' || _fail 'export_ops does not refuse'
import sys
sys.path.insert(0, sys.argv[1])
sys.modules["torch"] = None  # as where there is none
import orch
for path, words in (("model.onnx", "use a name that ends in .jsonl"), ("model.jsonl", "PyTorch 1.13 or later is needed")):
    try:
        orch.export_ops(None, (), path)
    except orch.Error as problem:
        assert words in str(problem), problem
    else:
        sys.exit(1)
E
[ ! -e model.jsonl ] || _fail 'a file was left'
