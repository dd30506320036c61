# The course profiles of homeworks 3, 4 and 7: valid parameters once the data sets exist (here small ones of random
# pixels), the trials that the assignments ask for, and for a missing data set the command that downloads it.
# test: slow timeout=900
. "$(dirname "$0")/../cli/lib.sh"
[ -e "$BUILD/plugins/common/orch-torch.so" ] || skip 'built without LibTorch: the training plugins are not there'
cp -r "$SOURCE/recipes" . # the store beside a recipe is its own: not that of the clone
python3 "$SOURCE/tests/cli/small_sets.py" "$SCRATCH/data" 1000
for name in hw3 hw4 hw7; do
    recipe=recipes/$name.recipe
    ORCH_DATA=$SCRATCH/data ok orch check "$recipe" -p course
    has 'well formed'
    has 'under profile course'
    ORCH_DATA=$SCRATCH/none fails 2 orch check "$recipe" -p course
    says "data set 'cifar10' was not found in $SCRATCH/none/cifar10"
    says 'hint: orch dataset get cifar10'
done
ORCH_DATA=$SCRATCH/none fails 2 orch check recipes/hw4.recipe p1 -p course
says 'hint: orch dataset get aircraft'
# what is planned
export ORCH_DATA=$SCRATCH/data
for part in 'hw3 p1 p2 p4' 'hw4 p3 p4' 'hw7 p1 p2'; do
    set -- $part
    name=$1
    shift
    ok orch plan recipes/$name.recipe "$@" -p course --json
    cp "$SCRATCH/out" "$name.json"
done
python3 - <<'P' || _fail 'the trials of the course profiles'
import json
trials = {}
for name in ("hw3", "hw4", "hw7"):
    for t in json.load(open(name + ".json"))["trials"]:
        assert t["state"] in ("missing", "skipped", "waiting"), t
        if t["experiment"].startswith("gpu"):  # without GPUs: skipped, with how many it needs
            assert t["state"] == "missing" or "GPU" in t["reason"], t
        trials.setdefault((name, t["experiment"]), []).append(t["params"])
def values(name, experiment, *params):
    return sorted({tuple(p[x] for x in params) for p in trials[name, experiment]})
ones = lambda *v: [(x,) for x in v]
# homework 3: 25 epochs on 1, 2, 4, 8 GPUs; 10 epochs of strong and weak scaling on 1 to 16; three and three all-reduces
assert values("hw3", "gpu_horovod", "workers", "epochs", "net", "dataset") == [(w, 25, "resnet50", "synthetic") for w in (1, 2, 4, 8)]
assert values("hw3", "simulated_nodes", "workers") == ones(1, 2, 4, 8, 16)
for kind, batch in (("strong", 256), ("weak", 64)):
    expected = [(w, kind, batch, 10, "resnet50-cifar", "fashion-mnist") for w in (1, 2, 4, 8)]
    got = values("hw3", "gpu_" + kind, "workers", "scaling", "batch", "epochs", "net", "dataset")
    assert got == expected, got
    assert values("hw3", f"gpu_{kind}_16", "workers", "scaling", "batch", "epochs") == [(16, kind, batch, 10)]
assert len(values("hw3", "gpu_all_reduce", "algorithm", "workers")) == 5 * 4
got = values("hw3", "gpu_all_reduce_bytes", "algorithm", "workers", "device")
assert got == [(a, 8, "cuda") for a in ("hierarchical", "reduce_broadcast", "segmented_ring")], got
assert values("hw3", "gpu_augmented", "copies", "batch", "epochs", "net", "dataset")[1:] == \
    [(m, 64, 100, "resnet44", "cifar10") for m in (2, 4, 8, 16, 32)]
# homework 4: InceptionV3, strong scaling, batch 128
got = values("hw4", "gpu_inception", "workers", "scaling", "batch", "net", "algorithm")
assert got == [(w, "strong", 128, "inception_v3", "segmented_ring") for w in (1, 2, 4, 8)], got
assert len(values("hw4", "gpu_curves", "net")) == 5
# homework 7: the second of two epochs, both kinds of scaling, batches growing by 4 until none fits
got = values("hw7", "gpu_data_parallel", "scaling", "batch", "workers")
assert got == [(s, b, w) for s in ("strong", "weak") for b in (32, 128, 512, 2048, 8192) for w in (1, 2, 4)], got
fixed = "net", "dataset", "epochs", "untimed_epochs", "lr", "momentum", "weight_decay", "crop_pad", "flip", "loader_threads", "out_of_memory"
for experiment in ("gpu_data_parallel", "gpu_full_memory"):
    got = values("hw7", experiment, *fixed)
    assert got == [("resnet18-cifar", "cifar10", 2, 1, 0.1, 0.9, 5e-4, 4, True, 2, "skip")], got
assert values("hw7", "gpu_full_memory", "batch", "workers") == [(32768, 1)]
assert values("hw7", "staleness", "learners") == [(2,)]
P
