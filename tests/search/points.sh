# SPDX-License-Identifier: GPL-3.0-or-later
# Sourced by tests of searches that tell their points apart by the order in which they were first started.
# points.py: start(WORD) returns the number of the point whose parameters are WORD, from 1, and whether it was started before; home is
# the folder where the test and its trials leave words for each other.
cat >points.py <<'P'
import os, pathlib
home = pathlib.Path(os.environ['HOME'])
def start(word):
    point = home / f'point-{word}'
    is_again = point.exists()
    n = 1
    while not is_again: # two points that start at once get two numbers
        try:
            (home / f'number-{n}').touch(exist_ok=False)
        except FileExistsError:
            n += 1
        else:
            point.write_text(str(n))
            break
    return int(point.read_text()), is_again
def log(text):
    with open(home / 'log', 'a') as f:
        f.write(f'{text} ')
P
# points_plugin STEP WORD...: t.plugin runs train.py, which prints its loss at each STEP, with these words
points_plugin() {
    local step=$1 words
    shift
    words=$(printf ", '%s'" "$@")
    cat >t.plugin <<Y
plugin: t
command: [python3, $PWD/train.py$words]
metrics_from: lines
parameters:
  lr: { type: real, default: 0.3 }
metrics:
  loss: { better: min, step: $step }
Y
}
