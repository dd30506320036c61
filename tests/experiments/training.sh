# The training plugins with a stand-in for LibTorch that only computes the last layer: a network is trained, finetuned
# and used as a feature extractor, layers are timed, and trials that cannot run are skipped or refused.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
export ORCH_TORCH=$BUILD/tests/plugins/tiny-torch.so TINY_TORCH_LOG=$SCRATCH/torch.log
cat >t.recipe <<'R'
format: 1
recipe: t
experiments:
  base:
    plugin: train
    with: { dataset: synthetic, image_size: 8, net: "mlp:8", epochs: 2, batch: 32, per_class: 4, val_images: 30 }
  full:
    plugin: finetune
    with: { weights: "${base.weights}", dataset: synthetic, image_size: 8, net: "mlp:8", epochs: 1, batch: 32, per_class: 4, optimizer: adam, layer_rates: [0.1, 1] }
  feature:
    plugin: finetune
    with: { mode: feature, weights: "${base.weights}", dataset: synthetic, image_size: 8, net: "mlp:8", epochs: 1, batch: 32, per_class: 4, classes: [3, 1] }
  scratch:
    plugin: finetune
    with: { mode: scratch, dataset: synthetic, image_size: 8, net: "mlp:8", epochs: 1, batch: 32, per_class: 4 }
R
run_of() {
    ok orch ls --where "experiment=$1" --json
    ok orch show "$(json runs.0.key)" --json
}
ok orch run t.recipe -q
ok orch ls --json
same "$(json runs.0.state) $(json runs.1.state) $(json runs.2.state) $(json runs.3.state)" 'ok ok ok ok'
grep -q '^optimizer adam frozen 0 rates 2$' "$TINY_TORCH_LOG" || _fail "mode full: $(cat "$TINY_TORCH_LOG")"
grep -q '^optimizer sgd frozen 1 rates 0$' "$TINY_TORCH_LOG" || _fail "mode feature: $(cat "$TINY_TORCH_LOG")"
run_of feature
same "$(json results.trained_params)" 18.0 'parameters of the head'
same "$(json results.class_count)" 2.0
has 'features of each training image once'
has 'the head is new'
run_of scratch
has_not 'taken from the base network'

# a smoke run reads no weights and no data
ok orch run t.recipe --smoke -q

# one PLUGIN SETTINGS: plans and runs a single trial, anew; what is printed
one() {
    printf 'format: 1\nrecipe: o\nexperiments: { o: { plugin: %s, with: { %s } } }\n' "$1" "$2" >o.recipe
    orch run o.recipe --force 2>&1
}
prints() { case $1 in *"$2"*) ;; *)
    out=$1
    _fail "not printed: $2"
    ;;
esac }
small='dataset: synthetic, image_size: 8, net: "mlp:4"'

# refused before it runs
prints "$(one finetune "$small, mode: feature, weights: base.pth, freeze: 1")" "'freeze' and 'layer_rates' need mode 'full'"
prints "$(one finetune "$small")" "modes 'full' and 'feature' need a base network: set weights"

# no GPU: skipped, with its reason; a failure of the library is the trial's
prints "$(one train "$small, device: cuda")" 'no CUDA device'
prints "$(TINY_TORCH_FAIL=train:2 one train "$small")" 'train failed on purpose'
case $(orch log @last) in *CRITICAL*) _fail 'GLib criticizes' ;; esac

# single layers: their median, smallest and largest time, in tables by kind
cat >l.recipe <<'R'
format: 1
recipe: l
experiments:
  both: { plugin: layerbench, with: { timer: justus, draws: 5, passes: [none, adam], in_hw: [4, 16] } }
  conv: { plugin: layerbench, with: { timer: justus, draws: 3, kinds: [conv], in_hw: [4, 4], kernel: [3, 3], channels: [2, 2], stride: [1, 1], batch: [2, 2], activations: [relu], passes: [sgd] } }
  parts: { plugin: layerbench, with: { net: "mlp:4", input: 1x4x4, classes: 3, net_batch: 2, repeats: 3, by_layer: true } }
  steps: { plugin: layerbench, with: { net: "mlp:4", input: 1x4x4, classes: 3, net_batch: 2, repeats: 3 }, sweep: { optimizer: [none, momentum, adam] } }
R
ok orch run l.recipe -q
run_of both
same "$(json results.conv_layers) $(json results.dense_layers)" '3.0 2.0'
same "$(json results.layer_time) $(json results.layer_spread)" '3.0 4.0' 'median and spread of 1 to 5 ms:'
run_of conv
has_not '"dense"'
ok orch show "$(json key)" -a conv
has 'batch,in_hw,kernel,cin,cout,stride,pad_same,act,bias,opt,ms,ms_min,ms_max'
same "$(printf '%s\n' "$out" | grep -Ec '^2,4,3,2,2,1,[01],relu,[01],sgd,3,1,5$')" 3 'rows:'
ok orch ls --where experiment=steps --json
for i in 0 1 2; do
    same "$(json runs.$i.state)" ok
done
# each layer of a network by itself, forward 1 to 3 ms and backward twice that, and input, loss and update; the first
# layer has no gradient of its input
run_of parts
same "$(json results.layers_timed) $(json results.layers_left_out)" '6.0 0.0' 'rows:'
same "$(json results.forward_sum) $(json results.backward_sum) $(json results.layer_sum)" '6.0 12.0 18.0' 'sums:'
same "$(json results.layer_sum_queued)" 18.0 'a processor has nothing to queue:'
same "$(json results.input_time) $(json results.loss_time) $(json results.update_time) $(json results.parts_sum)" '2.0 6.0 2.0 28.0'
same "$(json results.peak_gflop_s)" 3699.376128 'a convolution of 3.7 GFLOP in 1 ms:'
ok orch show "$(json key)" -a rows
has 'dense,dense 16 -> 4,2,'
has 'relu 4x1x1,2,'
has 'dense,dense 4 -> 3,2,'
has 'update,update 83 in 4,2,'
layers() { one layerbench "$1"; }
prints "$(layers 'batch: [3]')" 'batch: write two numbers, from and to, at most 1000000'
prints "$(layers 'units: [9, 2]')" 'units: write two numbers'
prints "$(layers 'passes: []')" "give each of 'passes', 'activations' and 'kinds' at least one value"
prints "$(layers 'net: bert-base')" "network 'bert-base' can only be counted, not run"
prints "$(layers 'net: "mlp:4", input: 4xx4')" "input '4xx4' is not CxHxW, e.g. 3x32x32"
prints "$(layers 'timer: justus, kinds: [dense], units: [4096, 4096], max_gflop: 0.001')" 'hardly any layer of these ranges is within max_gflop'
prints "$(layers 'device: cuda')" 'no CUDA device'
prints "$(TINY_TORCH_FAIL=layer_time:2 layers 'timer: justus, draws: 4')" 'layer_time failed on purpose'
for what in logits:3 model_new optimizer_set; do
    prints "$(TINY_TORCH_FAIL=$what layers 'net: "mlp:4", input: 1x4x4, optimizer: none')" "${what%:*} failed on purpose"
done
prints "$(ORCH_TORCH=/nowhere/torch.so layers 'draws: 2')" "there is no LibTorch adapter: '/nowhere/torch.so' was not built"
exit 0
