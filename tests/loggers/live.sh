#!/usr/bin/env bash
# test: quick
# SPDX-License-Identifier: GPL-3.0-or-later
# Files that a trial's logger writes become its metrics, while it runs: a table that grows, is written anew with another
# column, and holds what is printed, too. The values are there before the trial ends, each once.
. "$(dirname "$0")/../cli/lib.sh"
cat >train.py <<'P'
import os, sys, time
go = sys.argv[1]
os.makedirs("out", exist_ok=True)
rows = ["step,loss", "0,1.0", "1,0.5"]
def write():
    with open("out/metrics.csv", "w") as f:
        f.write("\n".join(rows) + "\n")
write()
print("step 1 loss 7")
sys.stdout.flush()
while not os.path.exists(go):
    time.sleep(0.05)
rows = ["step,loss,acc", "0,1.0,", "1,0.5,", "2,0.25,0.9"]
write()
with open("out/metrics.csv", "a") as f:
    f.write("3,0.125,0.95")
with open("out/log.jsonl", "w") as f:
    f.write('{"iter": 10, "lr": 0.1, "loss": 5}\n{"iter": 10, "lr": 0.1}\n{"iter": 20, "lr": 0.02}\n{"iter": 20, "lr": 0.01}\n')
with open("out/all_results.json", "w") as f:
    f.write('{"f1": 0.75}')
P
printf '/out/\n/go\n' >.gitignore
go=$PWD/go
orch try --no-progress -- python3 train.py "$go" >"$SCRATCH/try" 2>&1 &
pid=$!
until_true grep -rqs '"loss",1,[0-9.]*,0.5\]' .orch/results.db.d/trials
ok orch ls -m loss # before it ends
has '0.5000'
says_not 'no run yet'
: >go
wait $pid || _fail "$(cat "$SCRATCH/try")"
run=$(orch ls --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["runs"][0]["key"])')
ok orch show "$run"
has 'logged         out/metrics.csv (csv), 6 values'
has 'out/log.jsonl (json lines), 4 values, 1 replaced by a later one of the same step'
has_not 'metrics.csv (csv), 6 values,'
has 'loss         4       1  0.1250'
has 'lr           2'

# a file that is emptied is the trial's; one that was there and is appended to is not, and that is said
cat >again.py <<'P'
import sys
with open("out/history.csv", sys.argv[1]) as f:
    f.write("epoch,train/loss\n0,0.5\n1,0.25\n")
print("Train Loss: 3")
P
ok orch try --no-progress -- python3 again.py w
ok orch try --no-progress --force -- python3 again.py w
ok orch show "$(orch ls --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["runs"][0]["key"])')"
has 'out/history.csv (csv), 2 values'
has 'train/loss       2'
has_not 'train_loss'
ok orch try --no-progress -- python3 again.py a
ok orch show "$(orch ls --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["runs"][0]["key"])')"
has 'not logged     out/history.csv: it was there before the trial, which appends to it'

# where metrics come from can be chosen
for from in lines files none; do
    ok orch try --no-progress --metrics-from $from -- python3 again.py w
    ok orch show "$(orch ls --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["runs"][0]["key"])')"
    case $from in
    lines) has 'train_loss' && has_not 'train/loss' ;;
    files) has 'train/loss' && has_not 'train_loss' ;;
    none) has_not 'train' && has_not 'history.csv (csv)' ;;
    esac
done
fails 2 orch try --metrics-from letters -- python3 again.py w
says "unknown source of metrics 'letters'"

# of a file that two trials write, neither takes values
cat >both.py <<'P'
import os, sys, time
with open("out/both.csv", "a" if sys.argv[1] == "x" else "w") as f:
    f.write("step,both\n1,2\n")
while len(sys.argv) > 2 and not os.path.exists(sys.argv[2]):
    time.sleep(0.05)
P
rm "$go"
orch try --no-progress --no-pin --name first -- python3 both.py w "$go" >"$SCRATCH/try" 2>&1 &
pid=$!
until_true grep -rqs '"both",1' .orch/results.db.d/trials
ok orch try --no-progress --no-pin --oversubscribe --name second -- python3 both.py w
: >"$go"
wait $pid || _fail "$(cat "$SCRATCH/try")"
for name in first second; do
    ok orch show "$(orch ls --where "experiment = $name" --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["runs"][0]["key"])')"
    has 'out/both.csv: another trial writes it, too'
    has_not '(csv)'
done
