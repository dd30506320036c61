# SPDX-License-Identifier: GPL-3.0-or-later
# Sourced by tests of reports as files: a recipe hw9 of two problems, run but for its last question.
mkdir -p recipes
cat >recipes/mine.py <<'R'
# my own training, in place of the plugin's
import sys
lr, epochs = float(sys.argv[1]), int(sys.argv[2])
for epoch in range(1, epochs + 1):
    print('{"epoch": %d, "loss": %g, "accuracy": %g}' % (epoch, 1 / (1 + lr * epoch), 1 - 1 / (2 + lr * epoch)))
print("final_accuracy %g" % (1 - 1 / (2 + lr * epochs)))
R
cat >recipes/hw9.recipe <<'R'
format: 1
recipe: hw9
about: "Logistic regression <script>alert(1)</script> & a program of one's own"
experiments:
  base:
    plugin: pyexample
    with: { epochs: 3 }
    sweep: { lr: [0.1, 0.5] }
    repeat: 2
  own:
    plugin: pyexample
    program: python3 mine.py ${lr} ${epochs}
    with: { epochs: 4 }
    sweep: { lr: [0.1, 0.5] }
  later:
    plugin: pyexample
    with: { epochs: 3, lr: 0.7 }
report:
  - { question: 1.1a, points: 4, title: "Which <i>rate</i>?", table: { rows: lr, value: [result final_accuracy, best accuracy], experiments: [base] } }
  - { question: 1.1b, points: 3, title: Loss by epoch, plot: { x: epoch, y: loss, by: lr, experiments: [base] } }
  - { question: 1.1b, title: Why it falls, student: "Why does the loss fall slower at 0.1?" }
  - { question: 1.2, points: 5, title: My own program, table: { rows: lr, value: result final_accuracy, experiments: [own] } }
  - { question: 2.1, points: 2, title: Weakly against semi-supervised, student: "Explain the difference." }
  - { question: 2.2, points: 6, title: Not run yet, table: { rows: lr, value: result final_accuracy, experiments: [later] } }
R
printf '*.ipynb\n*.zip\nout/\nhandin/\n' >.gitignore
git add -A
git commit -qm recipe
ok orch run recipes/hw9.recipe base own -q
