# Plugin judge without images is skipped and says so, and judges a folder of transparent or coloured pictures in the shape of its data
# set. recipes/emoji_clothes.py makes such a folder where its font is installed.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
export ORCH_TORCH=$BUILD/tests/plugins/tiny-torch.so ORCH_DATA=$SCRATCH/data
mkdir -p "$ORCH_DATA"
net='dataset: synthetic, image_size: 16, net: "mlp:8"'
cat >j.recipe <<R
format: 1
recipe: j
experiments:
  base: { plugin: train, with: { $net, epochs: 1, batch: 32, per_class: 5, layout: plain } }
  wild: { plugin: judge, with: { $net, weights: "\${base.weights}", images: "\${env:ORCH_WILD:-}" } }
report:
  - { question: "1", title: Wild, table: { rows: experiment, value: result accuracy, experiments: wild } }
R
unset ORCH_WILD
ok orch run j.recipe -q
ok orch report j.recipe
has "missing: 1 of 1 trials is not run (skipped before: parameter 'images' is empty, so no image can be judged"
ok orch report j.recipe --json
python3 - "$SCRATCH/out" <<'P' || _fail 'the state'
import json, sys
section = json.load(open(sys.argv[1]))["sections"][0]
assert section["state"] != "complete" and section["done"] == 0, section
P
# a smoke run needs no images
ok orch run j.recipe --smoke -q
# without a data set it is an error as before
sed 's/dataset: synthetic, image_size: 16, net: "mlp:8", weights/dataset: "", net: "mlp:8", weights/' j.recipe >bad.recipe
fails 2 orch run bad.recipe wild -q
says 'was not found'
if /usr/bin/python3 -c 'import PIL' 2>/dev/null && [ -e /usr/share/fonts/truetype/noto/NotoColorEmoji.ttf ]; then
    ok /usr/bin/python3 "$SOURCE/recipes/emoji_clothes.py" emoji
    same "$(find emoji/test -name '*.png' | wc -l)" 17
    same "$(find emoji/test -mindepth 1 -type d | wc -l)" 9
    [ "$(md5sum emoji/test/*/*.png | cut -d' ' -f1 | sort -u | wc -l)" = 17 ] || _fail 'drawings are equal'
else
    echo 'not checked: emoji_clothes.py (fonts-noto-color-emoji or python3-pil is not installed)'
fi
