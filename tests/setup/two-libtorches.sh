# Runs with two versions of LibTorch: the version that a run used is recorded, and times of the two are not pooled in
# reuse, in forecasts, in predictors or in comparisons.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
for version in 1.13.1 2.11.0; do
    mkdir "$SCRATCH/$version"
    ln -s "$BUILD/tests/plugins/tiny-torch.so" "$SCRATCH/$version/tiny-torch.so"
    echo $version >"$SCRATCH/$version/tiny-torch.version"
done
use() { export ORCH_TORCH=$SCRATCH/$1/tiny-torch.so; }
recipe() { # recipe NAME REPEAT REUSE
    cat >"$1.recipe" <<R
format: 1
recipe: t
experiments:
  t: { plugin: train, repeat: $2, reuse: $3, with: { dataset: synthetic, image_size: 8, net: "mlp:8", epochs: 1, batch: 32, per_class: 4, val_images: 30 } }
R
}
recipe two 2 device
recipe four 4 device
recipe any 2 any

# reuse: device asks for the same version, reuse: any does not
use 1.13.1
ok orch run two.recipe -q
ok orch show @last --json
same "$(json facts.environment.libtorch)" 1.13.1
old=$(json key)
ok orch plan four.recipe --json
same "$(json left)" 2
same "$(json trials.3.forecast.tier)" measured
use 2.11.0
ok orch plan any.recipe
has 'environment differs: libtorch 1.13.1 -> 2.11.0'
ok orch plan any.recipe --json
same "$(json left)" 0
ok orch plan two.recipe --json
same "$(json left)" 2
same "$(json trials.0.reason)" 'environment differs: libtorch 1.13.1 -> 2.11.0'

# a forecast from repeats counts the runs of this version alone
[ "$(json trials.0.forecast.tier)" != measured ] || _fail 'the times of 1.13.1 forecast a trial of 2.11.0'
ok orch run two.recipe -q
ok orch show @last --json
same "$(json facts.environment.libtorch)" 2.11.0
ok orch plan four.recipe --json
same "$(json trials.3.forecast.because)" '2 runs of this setting here'
use 1.13.1
ok orch plan two.recipe --json
same "$(json left)" 0 # the older runs are of this one
ok orch plan four.recipe --json
same "$(json trials.3.forecast.because)" '2 runs of this setting here'

# a comparison of times says so; within a side the version of the newest run counts
new=$(orch ls --json | "$BUILD/json_get" runs.0.key)
ok orch compare "$old" "$new" -m wall_s
says 'A ran with libtorch 1.13.1, B with libtorch 2.11.0: a difference in time may come from these versions'
ok orch compare "$old" "$new" -m wall_s --json
same "$(json metrics.0.library_a) $(json metrics.0.library_b)" 'libtorch 1.13.1 libtorch 2.11.0'
ok orch compare "$old" "$new" -m final_accuracy
says_not 'A ran with'
ok orch compare t/t t/t -m wall_s
says 'times leave out 2 runs of side A, made with another version of LibTorch or PyTorch'
says_not 'A ran with'
ok orch compare t/t t/t -m wall_s --json
same "$(json metrics.0.a.n)" 2
use 2.11.0
ok orch run four.recipe -q
ok orch compare t/t t/t -m wall_s --json
same "$(json metrics.0.a.n)" 4

# rows that predictors learn from: those of the newest run's version on the device
ok orch predictor rows --target wall_s
says 'left out: 2 that used another version of LibTorch or PyTorch than the device'
