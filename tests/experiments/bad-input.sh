# Input that no training can use is refused with its place and a hint: a single class, missing classes, a checkpoint of
# another network, more images of a class than exist. A loss that is not finite ends a trial of any training plugin as
# diverged, with the step. With a stand-in for LibTorch.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
export ORCH_TORCH=$BUILD/tests/plugins/tiny-torch.so ORCH_DATA=$SCRATCH/data
small='dataset: synthetic, image_size: 12, net: "mlp:8", epochs: 2, batch: 16, per_class: 20, val_images: 20'

# before anything runs, in each plugin that trains
refused() { # PLUGIN WITH MESSAGE HINT
    printf 'format: 1\nrecipe: o\nexperiments: { o: { plugin: %s, with: { %s } } }\n' "$1" "$2" >o.recipe
    fails 2 orch check o.recipe
    says "$3"
    says 'at: o.recipe:3'
    says "$4"
}
for plugin in train 'finetune/mode: scratch,' 'batchaug/transforms: [flip],' 'semisup/labelled: 5,'; do
    own=
    [ "$plugin" = "${plugin%/*}" ] || own=${plugin#*/}
    refused "${plugin%%/*}" "$own $small, classes: [3]" "'classes' has only one class, but a classifier needs two" 'hint: name at least two classes'
    refused "${plugin%%/*}" "$own $small, classes: [3, 4, 3]" 'classes: 3 is given twice' 'hint: name each class once'
    refused "${plugin%%/*}" "$own dataset: cifar10, net: resnet20, classes: [3, 10]" "classes: 10, but 'cifar10' has classes 0 to 9" ''
done

# a folder with images of one class, which only reading it tells
python3 - "$ORCH_DATA" <<'P'
import os, struct, sys, zlib
def png(path, value, side=12):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    rows = b"".join(b"\0" + bytes((value + 3 * x + y) % 256 for x in range(side) for _ in "rgb") for y in range(side))
    chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    open(path, "wb").write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)) +
                           chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
for split in ("train", "val"):
    for i in range(3):
        png("%s/cats/%s/cat/%d.png" % (sys.argv[1], split, i), 20 * i)
        for label in ("cat", "dog"):
            png("%s/pets/%s/%s/%d.png" % (sys.argv[1], split, label, i), 30 * i)
P
folder='image_size: 12, net: "mlp:8", epochs: 1, batch: 4, val_images: 20'
cat >r.recipe <<R
format: 1
recipe: r
experiments:
  cats: { plugin: train, with: { $folder, dataset: cats } }
  many: { plugin: semisup, with: { $folder, dataset: pets, labelled: 1, k: 5 } }
  base: { plugin: train, with: { $small } }
  other: { plugin: finetune, with: { $small, weights: "\${base.weights}" } }
  teacher: { plugin: semisup, with: { $small, labelled: 5, k: 10, teacher_net: "mlp:9", teacher: "\${base.weights}" } }
  copies: { plugin: batchaug, with: { $small, transforms: [flip], copies: 2 } }
  tuned: { plugin: finetune, with: { $small, mode: scratch } }
  student: { plugin: semisup, with: { $small, labelled: 5, k: 10, supervision: labels, pretrain_steps: 40 } }
R
sed -i '/other:/s/mlp:8/mlp:9/' r.recipe
breaks() {
    fails 1 orch run r.recipe "$1" -q
    says "$2"
    says "$3"
}
if ! orch run r.recipe cats -q 2>&1 | grep -q 'without libpng'; then
    breaks cats "the images of 'cats' have only one class" ''
    breaks many 'k: 5 images for each class, but there are only 4 unlabelled images' ''
fi
breaks other "the weights do not fit network 'mlp:9'" 'hint: check that these are the weights of this network'
breaks teacher "teacher of network 'mlp:9'" 'fc1.weight'

# diverged, with the step: images are counted from the first, 16 a step (40 with two copies: 32 a step)
diverges() { # EXPERIMENT FIRST-BAD-IMAGE MESSAGE
    TINY_TORCH_NAN=$2 orch run r.recipe "$1" --force -q >"$SCRATCH/out" 2>&1
    ok orch ls --where "experiment='$1' and state=diverged" --json
    same "$(json runs.#)" 1 "a diverged run of $1"
    ok orch show "$(json runs.0.key)"
    has "$3"
}
diverges base 40 'for the first time in step 3 (epoch 1)'
diverges tuned 40 'for the first time in step 3 (epoch 1)'
diverges copies 40 'for the first time in step 2 (epoch 1)'
diverges student 40 'training the student: the loss is not finite, for the first time in step'
exit 0
