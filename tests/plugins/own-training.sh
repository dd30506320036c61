# The example of docs/training-plugins.md: a training plugin with its own feed, observer and checkpoint.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
export ORCH_TORCH=$BUILD/tests/plugins/tiny-torch.so
mkdir -p plugins && cp "$BUILD/tests/plugins/noisy.so" plugins/
cat >t.recipe <<'R'
format: 1
recipe: t
experiments:
  clean: { plugin: noisy, with: { noise: 0, dataset: synthetic, image_size: 8, net: "mlp:8", epochs: 2, batch: 32 } }
  noisy: { plugin: noisy, with: { noise: 0.5, dataset: synthetic, image_size: 8, net: "mlp:8", epochs: 2, batch: 32 } }
R
ok orch plugin trust plugins/noisy.so
ok orch run t.recipe -q
run_of() {
    ok orch ls --where "experiment=$1" --json
    ok orch show "$(json runs.0.key)" --json
}
run_of clean
same "$(json results.noisy_images)" 0.0
clean=$(json results.final_accuracy)
run_of noisy
noisy=$(json results.noisy_images) images=$(json results.train_images)
awk -v n="$noisy" -v i="$images" 'BEGIN { exit !(n > 0.35 * i && n < 0.65 * i) }' || _fail "noise 0.5: $noisy of $images images"
awk -v a="$clean" -v b="$(json results.final_accuracy)" 'BEGIN { exit !(a >= b) }' || _fail 'noise did not harm'
# the page shows the plugin as it is
page=$SOURCE/docs/training-plugins.md
sed -n '/^```c$/,/^```$/p' "$page" | sed '/^```/d' >page.c
diff page.c "$SOURCE/tests/plugins/noisy.c" >&2 || _fail "$page does not show tests/plugins/noisy.c"
exit 0
