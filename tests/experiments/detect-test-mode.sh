# The plugin detect in mode test: its declared cost is that of the test images, it reports progress, and it ends when it is
# cancelled, before it has measured all images.
# test: slow torch timeout=1200
. "$(dirname "$0")/../cli/lib.sh"
[ -e "$BUILD/plugins/common/orch-torch.so" ] || skip 'no LibTorch here'
cat >t.recipe <<'R'
format: 1
recipe: t
with: { dataset: synthetic, train_images: 16, val_images: 8, image_size: 256, net: "ssd-small:8", layout: plain, threads: 1 }
experiments:
  base: { plugin: detect, with: { epochs: 1, test_images: 8 } }
  short: { plugin: detect, with: { mode: test, weights: "${base.weights}", test_images: 40 } }
  usual: { plugin: detect, with: { mode: test, weights: "${base.weights}", batch: 5 } }
  trained: { plugin: detect, with: { epochs: 1, test_images: 4000 } }
  long: { plugin: detect, with: { mode: test, weights: "${base.weights}", test_images: 4000 } }
R
cost() { # EXPERIMENT: images, batch and epochs of its declared cost
    ok orch run t.recipe "$1" -q
    ok orch show @last --json
    printf '%s %s %s\n' "$(json facts.cost.images)" "$(json facts.cost.batch)" "$(json facts.cost.epochs)"
}
same '40 32 1.0' "$(cost short)" 'images, batch and epochs'
same '500 32 1.0' "$(cost usual)" 'images, batch and epochs of a generated set'

cancelled() { # EXPERIMENT PATTERN: it is cancelled once its journal has the pattern
    orch run t.recipe "$1" -q >log 2>&1 &
    pid=$!
    for _ in $(seq 2400); do
        grep -qs "$2" .orch/results.db.d/trials/*/journal && break
        kill -0 $pid 2>/dev/null || break
        sleep 0.05
    done
    grep -qs "$2" .orch/results.db.d/trials/*/journal || _fail "the journal of $1 lacks $2"
    kill -TERM $pid
    wait $pid && _fail 'the trial ended before it was cancelled'
    ok orch ls --where "experiment=$1" --json
    same preempted "$(json runs.0.state)" "state of $1"
    key=$(json runs.0.key)
    ok orch show "$key" --json
    same '0 0' "$(json exit_code) $(json signal)" 'exit code and signal of a trial that was cancelled'
    has_not full_map
}
cancelled long '"progress".*4000'
cancelled trained final_loss # in the measurement at the end of a training
