#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The line of a running trial shows per cent and remaining time from the program's output, and its main metric.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
cat >epochs.py <<'P'
import sys, time
for epoch in range(1, 41):
    time.sleep(0.08)
    print(f"Epoch {epoch}/40 time {0.08} lr 0.1 loss {1 / epoch:.3f}", flush=True)
P
cat >bar.py <<'P'
import sys, time
for i in range(41):
    time.sleep(0.08)
    print(f"\rtrain: {i * 100 // 40:3}%|##  | {i}/40 [00:0{i // 20}<00:02, 12.5it/s]", end="", file=sys.stderr, flush=True)
print("time 1.5")
print("accuracy 0.9")
P
git add -A
git commit -qm first
ok terminal orch try -- python3 -u epochs.py
has ' % '
has ' left '
has '  loss 0.'
grep -q '^  epochs.*\(time\|lr\) .*loss' <<<"$out" && _fail 'a time or a rate stands before the loss'
ok terminal orch try -- python3 -u bar.py
has ' % '
has ' left'
grep -Eq '[2-9][0-9] %' <<<"$out" || _fail 'no share of the bar on standard error'
