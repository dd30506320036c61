# The parameter data_path of train and finetune: batches made on a simulated GPU train to the same numbers as those made
# on the processor. The run records the choice, and the reason when the GPU cannot be used.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
export ORCH_TORCH=$BUILD/tests/plugins/tiny-torch.so
recipe() { # recipe PATH DEVICE [REUSE]
    cat >t.recipe <<R
format: 1
recipe: t
experiments:
  t: { plugin: train, reuse: ${3:-never}, with: { data_path: $1, device: $2, dataset: synthetic, image_size: 8, net: "mlp:8", epochs: 2, batch: 32, transforms: ["crop 2", flip, "cutout 3"] } }
R
}
trained() { # trained PATH DEVICE: its digits
    recipe "$1" "$2"
    ok orch run t.recipe -q
    ok orch show @last --json
    loss=$(json results.final_loss) path=$(json results.gpu_data_path)
    notes=$out
}
trained auto auto
same "$path" 0.0
by_cpu=$loss
case $notes in *'the CPU makes'*) _fail 'a note without a GPU' ;; esac
export TINY_TORCH_CUDA=1 TINY_TORCH_MEMORY=100000000
trained auto auto
same "$path" 1.0
same "$loss" "$by_cpu"
trained gpu cuda
same "$path" 1.0
same "$loss" "$by_cpu"
trained cpu cuda
same "$path" 0.0
same "$loss" "$by_cpu"
export TINY_TORCH_MEMORY=1000
trained auto cuda
same "$path" 0.0
same "$loss" "$by_cpu"
case $notes in *'the CPU makes the batches, not the GPU: the data set takes '*' must stay free for the training'*) ;; *) _fail "no note: $notes" ;; esac
recipe gpu cuda
fails 1 orch run t.recipe -q
says 'data_path: gpu: the data set takes '
says 'hint: set data_path: auto or cpu'

# refused beforehand where it is known, else when the training begins
unset TINY_TORCH_CUDA
recipe gpu cpu
fails 2 orch run t.recipe -q
says 'data_path: gpu needs a GPU'
recipe gpu auto
fails 1 orch run t.recipe -q
says 'data_path: gpu needs a GPU'
says 'hint: set data_path: auto'
recipe fast cpu
fails 2 orch run t.recipe -q
says "data_path"

# it changes no batch, so a trial with another data path is not run again
recipe auto auto device
ok orch plan t.recipe --json
same "$(json left)" 0
recipe cpu auto device
ok orch plan t.recipe --json
same "$(json left)" 0
sed -i 's/epochs: 2/epochs: 3/' t.recipe
ok orch plan t.recipe --json
same "$(json left)" 1
ok orch plugin show finetune
has data_path
