# The parameter graphs of train and finetune: 'on' requires a GPU and is refused before the run where that is known;
# 'auto' uses graphs where there is a GPU. A run records whether steps were replayed, and the reason if not. With a
# stand-in for LibTorch.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
export ORCH_TORCH=$BUILD/tests/plugins/tiny-torch.so TINY_TORCH_LOG=$SCRATCH/torch.log
recipe() { # SETTINGS
    printf 'format: 1\nrecipe: t\nexperiments:\n  t:\n    plugin: train\n    with: { dataset: synthetic, image_size: 8, net: "mlp:8", epochs: 2, batch: 32, per_class: 16, %s }\n' "$1" >t.recipe
    rm -f "$TINY_TORCH_LOG"
}
shown() { ok orch show @last --json; }

recipe 'graphs: on, device: cpu'
fails 2 orch run t.recipe
says "'graphs: on' needs a GPU, but the device is the CPU (device: cpu)"
says 'hint: write graphs: auto'
[ ! -e "$TINY_TORCH_LOG" ] || _fail 'LibTorch was loaded'
recipe 'graphs: always'
fails 2 orch plan t.recipe
says "'always' is not one of 'auto', 'on', 'off'"

# whether there is a GPU is known when LibTorch is there
recipe 'graphs: on'
fails 1 orch run t.recipe -q
ok orch ls --json
ok orch show "$(json runs.0.key)"
has "'graphs: on' needs a GPU, but 'device: auto' found none"
recipe 'graphs: auto'
ok orch run t.recipe -q
shown
same "$(json results.cuda_graphs)" 0.0 'without a GPU'
has_not 'operation by operation'
! grep -q '^graphs' "$TINY_TORCH_LOG" || _fail 'graphs without a GPU'

export TINY_TORCH_CUDA=1
ok orch run t.recipe -q --force
shown
same "$(json results.cuda_graphs)" 1.0 'auto on a GPU'
grep -qx 'graphs 2' "$TINY_TORCH_LOG" || _fail "auto: $(cat "$TINY_TORCH_LOG")"
recipe 'graphs: off'
ok orch run t.recipe -q --force
shown
same "$(json results.cuda_graphs)" 0.0 'off on a GPU'
recipe 'graphs: on'
ok orch run t.recipe -q --force
shown
same "$(json results.cuda_graphs)" 1.0 'on'

# a capture that fails is a note, once, and no failure
TINY_TORCH_CAPTURE=fail ok orch run t.recipe -q --force
shown
same "$(json results.cuda_graphs)" 0.0 'a capture that failed'
has 'operations are launched one by one, without CUDA graphs: the capture failed on purpose'
case $out in *'on purpose'*'on purpose'*) _fail 'noted twice' ;; esac

# a LibTorch that cannot capture: an error for on, a note for auto
export TINY_TORCH_FAIL=graphs_set
fails 1 orch run t.recipe -q --force
shown
has 'graphs: on: graphs_set failed on purpose'
recipe 'graphs: auto'
ok orch run t.recipe -q --force
shown
has 'no CUDA graphs: graphs_set failed on purpose'
