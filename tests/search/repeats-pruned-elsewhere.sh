# A point that another run of the same search has pruned, of which further repeats are planned here: they are pruned before
# their turn, and are not tried.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
# the first trial runs until both repeats of the third point, which is bad, were stopped in the other run
cat >train.py <<'P'
import os, pathlib, sys, time
home, lr, repeat = pathlib.Path(os.environ['HOME']), sys.argv[1], sys.argv[2]
point = home / f'point-{lr}'
if not point.exists():
    point.write_text(str(1 + len(list(home.glob('point-*')))))
n = int(point.read_text())
with open(home / 'log', 'a') as f:
    f.write(f'{n}#{repeat} ')
print(f"loss {9 if n == 3 else 1}", flush=True)
while n == 1 and repeat == '1' and not (home / 'pruned').exists():
    time.sleep(0.05)
time.sleep(60 if n == 3 else 0.2)
print(f"loss {9 if n == 3 else 1}", flush=True)
P
search() {
    orch try -x 'lr=uniform(0, 1)' --search 'min loss' --sampler sobol --trials "$1" --repeat 2 --stop 'asha(min=1, factor=2)' -j 1 -- \
        sh -c 'exec python3 train.py "$0" "$ORCH_REPEAT"' {lr}
}
until_logged() { until_true grep -qs "$1" "$HOME/log"; }
two_pruned() { [ "$(grep -c ' pruned ' second.out)" = 2 ]; }
search 4 >first.out 2>&1 &
until_logged '1#1'
search 3 >second.out 2>&1 &
until_logged '3#2'
until_true two_pruned
touch "$HOME/pruned"
wait
grep -q '^8 trials: 3 ok, 3 done before, 2 pruned before' first.out || _fail "$(cat first.out)"
grep -q '^6 trials: 3 ok, 2 pruned, 1 done before' second.out || _fail "$(cat second.out)"
same "$(cat "$HOME/log")" '1#1 2#1 3#1 1#2 2#2 3#2 4#1 4#2 '
