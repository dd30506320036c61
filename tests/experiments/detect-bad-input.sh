# The plugin detect on bad input: unknown sets, classes and networks, weights of another network or without the classes
# that are tested, images without objects of the classes, a loss that is not finite. Each is named, and nothing is lost.
# test: slow torch timeout=1200
. "$(dirname "$0")/../cli/lib.sh"
[ -e "$BUILD/plugins/common/orch-torch.so" ] || skip 'no LibTorch here'
small='dataset: synthetic, train_images: 32, test_images: 16, val_images: 8, image_size: 64, net: "ssd-small:4", epochs: 1, layout: plain, threads: 1'

# before anything runs
refused() { # WITH MESSAGE
    printf 'format: 1\nrecipe: o\nexperiments: { o: { plugin: detect, with: { %s } } }\n' "$1" >o.recipe
    fails 2 orch check o.recipe
    says "$2"
    says 'at: o.recipe:3'
}
refused 'dataset: cats' "no training images with boxes of data set 'cats' in"
refused "$small, classes: [red, purple]" "classes: data set 'synthetic' has no class 'purple'; its classes are red, green, blue"
refused "$small, classes: [red, red]" "classes: 'red' is given twice"
refused "dataset: synthetic, net: resnet18" "network 'resnet18': the 1 outputs are not those of a detector"
refused "dataset: synthetic, net: ssd-smal" "did you mean 'ssd-small"
refused "$small, mode: feature" "mode 'feature' needs the weights of a detector"
refused "$small, mode: test" "mode 'test' needs the weights of a detector"
refused "$small, freeze: 9" "freeze: 9, but network 'ssd-small:4' has only layer groups 0 to"
refused "$small, transforms: [blur]" 'blur'
refused "$small, transforms: [flip, crop]" 'crop'
refused "$small, schedule: steps, milestones: [70]" 'all 1 learning-rate drops come after the last'

cat >r.recipe <<R
format: 1
recipe: r
with: { $small }
experiments:
  base: { plugin: detect, with: { classes: [red, green] } }
  unknown: { plugin: detect, with: { mode: test, classes: [green, blue], weights: "\${base.weights}" } }
  wider: { plugin: detect, with: { net: "ssd-small:8", weights: "\${base.weights}" } }
  nan: { plugin: detect, with: { lr: 100, weight_decay: 1, batch: 4, epochs: 3 } }
R
ok orch run r.recipe base -q
breaks() {
    fails 1 orch run r.recipe "$1" -q
    says "$2"
}
breaks unknown "mode 'test': the weights have no class 'blue'; their classes are red, green"
breaks wider "the weights do not fit network 'ssd-small:8': base_net.0.0.weight: [4, 3, 3, 3] for [8, 3, 3, 3]"
# the predictors of boxes of another network: one is missing, or has priors of another number
ok orch ls --where 'experiment=base' --json
orch show "$(json runs.0.key)" -a weights >base.safetensors
python3 - <<'P'
import json, struct
data = open("base.safetensors", "rb").read()
length = struct.unpack("<Q", data[:8])[0]
header, values = json.loads(data[8:8 + length]), data[8 + length:]
name = "regression_headers.0.weight"
def write(file, entry):
    changed = {k: v for k, v in header.items() if k != name}
    if entry:
        changed[name] = entry
    text = json.dumps(changed).encode()
    begin, end = header[name]["data_offsets"]
    kept = values
    if not entry:  # the values of the others have to follow one another
        kept = values[:begin] + values[end:]
        for k, v in changed.items():
            if k != "__metadata__" and v["data_offsets"][0] >= end:
                changed[k] = dict(v, data_offsets=[x - (end - begin) for x in v["data_offsets"]])
        text = json.dumps(changed).encode()
    open(file, "wb").write(struct.pack("<Q", len(text)) + text + kept)
shape = header[name]["shape"]
write("lacks.safetensors", None)
write("shaped.safetensors", dict(header[name], shape=[shape[0] // 2, shape[1] * 2] + shape[2:]))
P
sed -i 's|^  nan: |  lacks: { plugin: detect, with: { weights: lacks.safetensors } }\n  shaped: { plugin: detect, with: { weights: shaped.safetensors } }\n&|' r.recipe
breaks lacks "the weights have no 'regression_headers.0.weight', which predicts boxes"
says 'new_head: true'
breaks shaped "'regression_headers.0.weight', which predicts boxes, has another shape in the weights"
ok orch run r.recipe nan -q
ok orch ls --where experiment=nan --json
same diverged "$(json runs.0.state)"
ok orch show "$(json runs.0.key)"
has 'the training loss is not finite, for the first time in step'
has 'train_loss'

# a published set that is not here is no fault of the recipe
export ORCH_DATA=$SCRATCH/nothing
printf 'format: 1\nrecipe: v\nexperiments: { v: { plugin: detect, with: { dataset: voc2007 } } }\n' >v.recipe
ok orch check v.recipe
_run orch run v.recipe -q
ok orch ls --where recipe=v --json
same skipped "$(json runs.0.state)"
ok orch show "$(json runs.0.key)"
has "no training images with boxes of data set 'voc2007'"
