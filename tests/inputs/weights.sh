# Weights that a recipe names by their path, relative to its folder, are an input of the trial: another file in the place of
# the first makes another trial, with every plugin that reads weights. Their content is not looked at before the trial runs.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
[ -e "$BUILD/plugins/detect.so" ] || skip 'plugin detect is not built here'
mkdir recipes
small='dataset: synthetic, image_size: 16, net: "mlp:8"'
cat >recipes/t.recipe <<R
format: 1
recipe: t
experiments:
  detect: { plugin: detect, with: { dataset: synthetic, weights: w.safetensors } }
  finetune: { plugin: finetune, with: { $small, weights: w.safetensors } }
  judge: { plugin: judge, with: { $small, images: synthetic, weights: w.safetensors } }
  onnxrun: { plugin: onnxrun, with: { net: "mlp:8", weights: w.safetensors } }
  semisup: { plugin: semisup, with: { $small, teacher: w.safetensors } }
  sourcesel: { plugin: sourcesel, with: { $small, sources: [a 0 1, b 2 3], target: a, stage: target, weights: w.safetensors } }
  extractor: { plugin: sourcesel, with: { $small, sources: [a 0 1, b 2 3], extractor: w.safetensors } }
R
for name in detect finetune judge onnxrun semisup sourcesel extractor; do
    echo first >recipes/w.safetensors
    ok orch plan recipes/t.recipe $name --json
    first=$(json trials.0.fingerprint)
    echo second >recipes/w.safetensors
    ok orch plan recipes/t.recipe $name --json
    [ "$(json trials.0.fingerprint)" != "$first" ] || _fail "$name: another file of weights is the same trial"
    echo first >recipes/w.safetensors
    ok orch plan recipes/t.recipe $name --json
    same "$first" "$(json trials.0.fingerprint)" "$name with the first file again"
done
