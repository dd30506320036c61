# First questions of a user who is new to forecasts: each error says what to type.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
fails 2 orch predict resnet50
says 'name a network with --net'
fails 2 orch predict --gpu V100 --net LeNet
says "did you mean 'lenet5'?"
fails 2 orch predict --gpu V100 --net 'wide resnet'
says "did you mean 'wide_resnet50_2'?"
says 'others like it: '
says 'orch.export_ops'
# a file that is not there is no unknown network, and one beside it may be meant
: >model.onnx
for wrong in modell.onnx ./modle.onnx; do
    fails 2 orch predict --gpu V100 --net "$wrong"
    says "no such file '$wrong'"
    says 'model.onnx'
done
fails 2 orch net show folder/none.jsonl
says "no such file 'folder/none.jsonl'"
says_not 'did you mean'
rm model.onnx
ok orch predict --gpu V100 --net ViT-B-16
fails 2 orch predict --gpu V100 --net swin-b
says "'orch net ls' lists"
fails 2 orch predict --gpu cpu --net resnet50
says "'here' is this machine's processor"
ok orch predict --gpu V100,T4 --net resnet50
has 'recommended: '
fails 2 orch gpu show V100,T4
says 'name one of them'
says_not 'did you mean'
# a price is written like a budget
ok orch predict --gpu V100 --net resnet50 --price 3usd --json
by_usd=$(json predictions.0.cost_usd)
ok orch predict --gpu V100 --net resnet50 --price '$3' --json
same "$(json predictions.0.cost_usd)" "$by_usd"
ok orch predict --gpu V100 --net resnet50 --price 3 --json
same "$(json predictions.0.cost_usd)" "$by_usd"
for bad in 0 -1 three 3eur nan 1e7; do
    fails 2 orch predict --gpu V100 --net resnet50 --price "$bad"
    says "'$bad' is not an amount above 0"
    says '--price 3.06usd'
done
# limits that no GPU keeps: only those that were set are named, with the GPU that comes nearest
ok orch predict --gpu all --net resnet50 --deadline 1h
has 'raise --deadline (the fastest, '
has_not '--budget'
ok orch predict --gpu all --net resnet50 --budget 5usd
has 'raise --budget (the cheapest, '
has_not '--deadline'
ok orch predict --gpu all --net resnet50 --budget 5usd --deadline 1h
has 'raise --budget or --deadline (the cheapest, '
has '; the fastest, '
