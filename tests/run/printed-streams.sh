#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Metrics from standard error, and the notice about printed values that were not recorded.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
printf 'import sys\nfor e in range(2): print("epoch %%d loss %%g" %% (e, 1 - e / 4), file=sys.stderr)\nprint("done")\n' >e.py
printf 'print("epoch 1 loss 3")\nprint("epoch 1 loss 2")\nprint("val loss: 1 val_loss: 2")\nprint("acc=0.5 f1=0,5")\n' >d.py
git add -A
git commit -qm first
ok orch try -- python3 e.py
says 'recorded no metric'
says 'standard error is not read, where 2 lines held numbers'
says '--metrics-from both'
ok orch show @last
has '2 lines with numbers on standard error'
ok orch try --metrics-from stderr -- python3 e.py
says 'loss 0.7500'
says_not 'no metric'
ok orch try --metrics-from both -- sh -c 'echo acc 0.5; echo loss 1 >&2'
ok orch show @last --json
same "$(json metrics.#)" 2
fails 2 orch try --metrics-from nowhere -- python3 e.py
says "unknown source of metrics 'nowhere'"
ok orch try -- python3 d.py
says '2 values were replaced by a later one of the same step, first: loss at 1'
says '1 line held numbers that were not understood, first: acc=0.5 f1=0,5'
says '1 metric was printed under names that differ only in signs, first: val_loss'
ok orch show @last
has 'differ only in signs, first: val_loss; they are recorded as one'
has 'were replaced by a later one of the same step'
has 'not understood'
