# fp32 means tf32 on GPUs that support it; fp32-ieee (PyTorch: ieee) means fp32 everywhere, in forecasts and in
# trainings.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
step() { # step GPU PRECISION: the forecast of a step, and what the output says of its precision
    ok orch predict --gpu "$1" --net resnet50 --dataset imagenet --epochs 1 --batch 64 --precision "$2" --json
    same "$(json predictions.0.precision)" "${3:-$2}" "precision of $2 on $1"
    json predictions.0.step_s
}
# on an A100 fp32 takes as long as tf32, and fp32-ieee longer
a=$(step A100 fp32 tf32) b=$(step A100 tf32) c=$(step A100 fp32-ieee) d=$(step A100 IEEE fp32-ieee)
same "$a" "$b"
same "$c" "$d"
python3 -c 'import sys; tf32, ieee = map(float, sys.argv[1:]); assert ieee > 1.5 * tf32, sys.argv' "$a" "$c" || _fail 'step times of an A100'
# where there is no tf32 both names mean the same
same "$(step V100 fp32)" "$(step V100 fp32-ieee fp32)"
# the peak of a roofline
peak() {
    ok orch paleo --roofline --net resnet50 --gpu A100 --precision "$1"
    has "$2 TFLOP/s"
}
peak fp32 156
peak fp32-ieee 19.492
fails 2 orch predict --gpu A100 --net resnet50 --precision ieee32
says 'fp32-ieee'
# a training multiplies in fp32 when it is asked for, and records that name
mkdir "$SCRATCH/torch"
ln -s "$BUILD/tests/plugins/tiny-torch.so" "$SCRATCH/torch/tiny-torch.so"
export ORCH_TORCH=$SCRATCH/torch/tiny-torch.so TINY_TORCH_LOG=$SCRATCH/log
cat >p.recipe <<R
format: 1
recipe: p
experiments:
  p: { plugin: train, sweep: { precision: [fp32, fp32-ieee, tf32] }, with: { dataset: synthetic, image_size: 8, net: "mlp:8", epochs: 1, batch: 32, per_class: 4, val_images: 30, layout: plain } }
R
ok orch run p.recipe -q
ok orch show @last --json
same "$(json facts.cost.precision)" tf32
same "$(grep -o 'precision [0-9]' "$TINY_TORCH_LOG" | tr '\n' ' ')" 'precision 2 precision 0 precision 2 ' 'what LibTorch was asked for'
