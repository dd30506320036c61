# train with the parameters of fast training: they are recorded, invalid combinations are refused with a hint before the
# run, and pad_ahead does not change the identity of a trial. With a stand-in for LibTorch.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
export ORCH_TORCH=$BUILD/tests/plugins/tiny-torch.so
cat >t.recipe <<'R'
format: 1
recipe: t
with: { dataset: synthetic, image_size: 32, epochs: 2, batch: 32, per_class: 4, val_images: 30, net: "airbench-relu:2,3,4" }
experiments:
  plain:
    plugin: train
  fast:
    plugin: train
    with: { whiten: true, filter_init: dirac, freeze_norm_scale: true, norm_bias_rate: 8, label_smoothing: 0.1, average: lookahead,
            average_every: 1, flip: true, flip_alternate: true, test_flip_below: 0.9, schedule: linear, warmup_epochs: 0.5,
            lr_start: 0.2, lr_end: 0.1, pad_ahead: true, crop_pad: 2 }
R
ok orch run t.recipe -q
ok orch export --format json
python3 - "$SCRATCH/out" <<'P' || _fail 'the results of fast training'
import json, sys
runs = {run["experiment"]: run for run in json.load(open(sys.argv[1]))}
plain, fast = runs["plain"], runs["fast"]
assert plain["state"] == fast["state"] == "ok", runs
assert plain.get("result.whitening_time") is None and fast["result.whitening_time"] > 0, fast
# 24 filters of 3x2x2 values and the scales of 2, 2, 3, 3, 4 and 4 channels do not learn
assert plain["result.trained_params"] - fast["result.trained_params"] == 24 * 12 + 18, (plain, fast)
assert fast["result.training_time"] >= fast["result.whitening_time"], fast
P
ok orch plan t.recipe fast -s fast.pad_ahead=false
has 'done'
has_not 'missing'

fails 2 orch plan t.recipe -s fast.flip=false
says 'flip_alternate does nothing, because the training images are not flipped'
says 'hint: set flip: true'
fails 2 orch plan t.recipe -s fast.net=mlp:8
says "whiten: the first layer of network 'mlp:8' is not a plain convolution"
says 'hint: set whiten: false'
fails 2 orch plan t.recipe -s fast.label_smoothing=1
says label_smoothing
fails 2 orch plan t.recipe -s fast.average=swa
says 'average'
fails 2 orch plan t.recipe -s fast.test_flip_below=90
says test_flip_below
fails 2 orch plan t.recipe -s fast.net=airbench:64,x,3
says "'64,x,3' is not a list of 1 to 5 widths"
# progressive sizes: part of what makes a trial, and refused where the images or the network do not allow them
ok orch plan t.recipe plain -s plain.first_size=16
has_not done
ok orch run t.recipe plain -q -s plain.first_size=16 -s plain.growth=1
fails 2 orch plan t.recipe -s plain.first_size=32
says 'first_size: 32, but the images have only 32x32 pixels'
fails 2 orch plan t.recipe -s plain.first_size=16 -s plain.net=lenet5
says "first_size: 16: network 'lenet5' cannot take images of 16x16"
says 'use larger images, or another network'
fails 2 orch plan t.recipe -s plain.first_size=2
says 'cannot take images of 2x2'
