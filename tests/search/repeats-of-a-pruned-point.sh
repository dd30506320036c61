# 'repeat: auto' with 'stop': a point of which a rule stopped a repeat cannot be the best, so it is not repeated any more.
# A point whose first trial runs elsewhere is waited for.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
# the third trial, which is a repeat, is bad
cat >train.py <<'P'
import os, pathlib, sys, time
home, lr = pathlib.Path(os.environ['HOME']), float(sys.argv[1])
n = 1 + len(list(home.glob('trial-*')))
(home / f'trial-{n}').touch()
loss = 9 if n == 3 else 2 if lr < 0.3 else 1
print(f"loss {loss}", flush=True)
time.sleep(60 if n == 3 else 0)
print(f"loss {loss}", flush=True)
P
ok timeout 50 orch try -x 'lr=uniform(0, 1)' --search 'min loss' --sampler sobol --trials 2 --stop 'asha(min=1, factor=2)' \
    --repeat 'auto(ci=2%, max=9)' -j 1 -- python3 train.py {lr}
says '1 pruned'
for where in 'lr < 0.3' 'lr > 0.3'; do
    ok orch ls --json --state pruned --where "$where"
    pruned=$(json runs.#)
    ok orch ls --json --where "$where"
    runs=$(json runs.#)
    [ "$pruned" = 0 ] || same "$runs" 2 'runs of the point of which one was pruned'
    [ "$pruned" = 1 ] || [ "$runs" -ge 3 ] || _fail "$runs runs of the other one"
done

# two runs of one search: the second one does not give up the repeats while the first trial runs in the other one
rm -rf .orch
cat >slow.sh <<'P'
echo begin >>"$HOME/slow"
sleep "$(grep -c . "$HOME/slow" | sed 's/^1$/3/; t; s/.*/0/')"
echo "loss 1.00$(grep -c . "$HOME/slow")" # equal values would tell nothing of their scatter
P
search() {
    orch try -x 'lr=uniform(0, 1)' --search 'min loss' --sampler sobol --trials 1 --repeat 'auto(ci=2%, max=16)' -j 1 -- sh slow.sh {lr}
}
search >first 2>&1 &
await -e "$HOME/slow"
ok search
wait
says '6 not needed'
