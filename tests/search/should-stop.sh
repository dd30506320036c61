# A Python script saves itself when its search's rule stops it, and goes on from there with --continue-pruned: told by a
# message where it speaks the protocol, and by SIGTERM where its metrics are read from what it prints.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
mkdir helper
cp -r "$SOURCE/share/python/orch" helper/
# The second trial is worse than the first: it waits after its second epoch until it is told.
cat >train.py <<'P'
import os, pathlib, sys, time
sys.path.insert(0, 'helper')
import orch
home = pathlib.Path(os.environ['HOME'])
run = orch.start(lr=0.5)
state = pathlib.Path(run.checkpoint_dir) / 'state'
first, bad = (int(word) for word in state.read_text().split()) if state.exists() else (1, (home / 'seen').exists())
(home / 'seen').touch()
run.note(f'begins with epoch {first}')
run.should_stop()
for epoch in range(first, 6):
    if sys.argv[1] == 'prints':
        print(f"epoch {epoch} loss {bad + 1 / epoch:.4f}", flush=True)
    else:
        run.metric('loss', epoch, bad + 1 / epoch)
    until = time.monotonic() + 60
    while bad and epoch == 2 and not run.should_stop() and time.monotonic() < until:
        time.sleep(0.01)
    if run.should_stop():
        state.write_text(f'{epoch + 1} {int(bad)}')
        (home / 'saved').write_text('epoch %d' % epoch)
        break
P
plugin() { # plugin NAME METRICS_FROM ARGUMENT
    cat >"$1.plugin" <<P
plugin: $1
version: 1.0.0
about: two trials, of which the second is worse
metrics_from: $2
command: [python3, train.py, $3]
parameters:
  lr: { type: real, min: 0, max: 1, default: 0.5 }
metrics:
  loss: { better: min, step: epoch }
P
    cat >"$1.recipe" <<R
format: 1
recipe: $1
experiments:
  tune:
    plugin: $1
    search:
      lr: uniform(0, 1)
    objective:
      metric: min last loss
      trials: 2
      stop: asha(min=2, factor=2)
R
}
plugin speaks protocol protocol
plugin prints lines prints
for name in speaks prints; do
    rm -f "$HOME/seen" "$HOME/saved"
    ok orch run $name.recipe -j 1
    says '2 trials: 1 ok, 1 pruned'
    same "$(cat "$HOME/saved")" 'epoch 2' "what $name saved"
    ok orch ls --where "recipe=$name and state=pruned" --json
    key=$(json runs.0.key)
    ok orch show "$key" --json
    same "$(json state)" pruned
    same "$(json reason)" '1.5 after 2 values; 1 of 2 trials are better, the best 1 go on'
    has 'begins with epoch 1'
    ok orch run $name.recipe -j 1 --continue-pruned
    says '1 ok, 1 done before'
    ok orch ls --where "recipe=$name and state=ok" --json
    ok orch show "$(json runs.0.key)" --json
    has 'begins with epoch 3'
done
