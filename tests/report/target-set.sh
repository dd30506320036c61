# Homework 4, 1.1a: the description of the target data set contains the size of its images.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
[ -e "$BUILD/plugins/common/orch-torch.so" ] || export ORCH_TORCH=$BUILD/tests/plugins/tiny-torch.so # built without LibTorch
cp -r "$SOURCE/recipes" .
cat >t.recipe <<'R'
format: 1
recipe: t
experiments: { part: { plugin: train, with: { dataset: synthetic, image_size: 16, net: "mlp:4", epochs: 1, batch: 8, per_class: 2, val_images: 10 } } }
report: [ { table: { rows: dataset, value: [result image_width, result image_height, result image_channels] } } ]
R
ok orch run t.recipe -q
has 'image width (pixels)'
has 'image channels'
printf '%s\n' "$out" | grep -Eq '^ *synthetic +[1-9][0-9]* +[1-9][0-9]* +[13]$' || _fail 'no size of an image'
ok orch report recipes/hw4.recipe --only 1.1a
has 'The target set'
exit 0
