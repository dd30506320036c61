# A trial that another run of the same search prunes meanwhile is not run again.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
cat >train.py <<'P'
import os, pathlib, time
home = pathlib.Path(os.environ['HOME'])
n = 1 + len(list(home.glob('trial-*')))
(home / f'trial-{n}').touch()
while n == 2 and not (home / 'go').exists():
    time.sleep(0.05)
print(f"loss {n}", flush=True)
while n == 2:  # until it is pruned
    time.sleep(0.05)
print(f"loss {n}", flush=True)
P
search() {
    orch try -x 'lr=uniform(0, 1)' --search 'min loss' --sampler sobol --trials 2 --stop 'asha(min=1, factor=2)' -j 1 -- python3 train.py {lr}
}
search >first 2>&1 &
await -e "$HOME/trial-2"
search >second 2>&1 &
second=$!
await -s second # it has its plan, in which the second trial runs elsewhere
touch "$HOME/go"
wait $second || _fail "$(cat second)"
err=$(cat second)
wait
grep -q '1 ok, 1 pruned' first || _fail "$(cat first)"
says '1 done before, 1 pruned before'
[ ! -e "$HOME/trial-3" ] || _fail 'a pruned trial was run again'
