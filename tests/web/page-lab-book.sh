# The table of runs as a lab book, walked in Chromium over runs of 'orch try' and of a recipe with a report: the columns are
# those of the runs that are shown, repeats and attempts are lines that open, what is selected can be changed, and a run
# opens with what it changed.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
. "$(dirname "$0")/browser.sh"
. "$(dirname "$0")/store.sh" # declares accuracy and loss, which the script below does not have
cat >train.py <<'P'
import math, random, sys
rate, seed = float(sys.argv[1]), int(sys.argv[2])
random.seed(seed)
best = 0
for epoch in range(1, 13):
    loss = 2 * math.exp(-rate * epoch) + .05 * random.random()
    best = max(best, 1 - loss / 3)
    print(f"epoch {epoch}/12 train_loss {loss:.4f} val_acc {1 - loss / 3:.4f}", flush=True)
print(f"best_val_acc={best:.4f}")
P
git add -A
git commit -qm 'train.py'
ok orch try -q -x rate=0.1,0.3,0.6 --repeat 3 --name sweep -- python3 train.py {rate} {seed}
ok orch try -q --name script -- python3 train.py 0.2 1
sed -i 's/0.05/0.06/; s/\.05 \*/.01 */' train.py
ok orch try -q --name script -- python3 train.py 0.2 1
sed -i 's/range(1, 13)/range(1, 11)/' train.py
ok orch try -q --name script -- python3 train.py 0.2 1
serve
walk lab_book.py
ok orch ls --where "tag = 'kept-tag'" --json
same "$(printf '%s' "$out" | python3 -c 'import json, sys; print(len(json.load(sys.stdin)["runs"]))')" 3 'tagged runs:'
unserve
