# A rule that stops trials counts the values of a running trial by their steps, as the store does; an earlier attempt of a
# trial is not one of its rivals.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
# Steps 1 to 3 begin again in each of 3 epochs. The store keeps the last epoch, so the first values of the second trial are
# far above those kept of the first, and its last ones are below.
cat >t.plugin <<'Y'
plugin: t
command: [python3, t.py]
metrics_from: lines
parameters:
  lr: { type: real, default: 0.3 }
metrics:
  loss: { better: min, step: step }
Y
cat >t.py <<'P'
import os, pathlib, sys, time
mode = pathlib.Path('mode').read_text().strip()
home = pathlib.Path(os.environ['HOME'])
n = 1 + len(list(home.glob(mode + '-*')))
(home / f'{mode}-{n}').touch()
if mode == 'epochs':
    for epoch in range(1, 4):
        for step in range(1, 4):
            print(f"step {step} loss {10 / epoch / step - n / 10:.4f}", flush=True)
            time.sleep(0.3 if n > 1 else 0)
else:
    # the second trial is good until it fails, and its second attempt begins a little worse
    loss = {1: 5, 2: 1, 3: 2}[n]
    for step in range(1, 4):
        print(f"step {step} loss {loss / step:.4f}", flush=True)
        time.sleep(0.5 if n > 1 else 0)
    if n == 2:
        os.kill(os.getppid(), 9)  # its host: the trial is lost
        time.sleep(60)
P
recipe() {
    cat >t.recipe <<R
format: 1
recipe: t
experiments:
  e:
    plugin: ./t.plugin
    retries: 1
    search: { lr: "uniform(0, 1)" }
    objective: { metric: min loss, trials: 2, stop: "$1" }
R
}
P=$(pwd)
sed -i "s|pathlib.Path('mode')|pathlib.Path('$P/mode')|; s|python3, t.py|python3, $P/t.py|" t.py t.plugin
echo epochs >mode
recipe 'asha(min=1, factor=2)'
ok orch run t.recipe -j 1
says '2 ok'
says 'best of 2 settings: '
says 'last loss 0.9111'
ok orch ls --state pruned --json
same "$(json runs.#)" 0 'a trial whose values are the lower ones at each step'
rm -rf .orch
echo again >mode
ok orch run t.recipe -j 1
says '2 ok, 1 tried again'
