# The rules median and forecast in a run: each stops the trial that it should, with its numbers, at the value that says so.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
# Six trials end with about twice their first value, the seventh waits after it, or after its third.
cat >train.py <<'P'
import itertools, os, pathlib, sys, time
home, waits = pathlib.Path(os.environ['HOME']), int(sys.argv[2])
for n in itertools.count(1):
    try:
        os.close(os.open(home / f'{waits}-trial-{n}', os.O_CREAT | os.O_EXCL))
        break
    except FileExistsError:
        pass
begin = n if n < 7 else 1.5
for epoch in range(1, 5):
    loss = begin if epoch == 1 else 50 if epoch < 4 else 2 * begin + 1 + (.1, -.1, -.1, .1, .1, -.1, 0)[n - 1]
    print(f"epoch {epoch}/4 loss {loss}", flush=True)
    if n == 7 and epoch == waits:
        time.sleep(60)
        sys.exit('nobody stopped it')
P
# by numpy: 4.01 is expected, the best is 3.1, and t = 6.33 with 4 degrees of freedom is 0.16 %
ok orch try -x 'lr=uniform(0, 1)' --search 'min loss' --trials 7 --stop 'forecast(p=0.01, startup=6)' -j 1 \
    -- python3 train.py {lr} 1
says '6 ok, 1 pruned'
says '  1.5 after 1 value; the chance to end with 3.1 or better is 0.16 %, judged by 6 trials that ended'
says '1 trial was pruned'
# the median of the others' averages over 3 values is 34.5, above the best value of the seventh, 1.5, so that it goes on
sed -i 's/epoch == waits/epoch == waits and False/' train.py
ok orch try -x 'lr=uniform(0, 1)' --search 'min loss' --trials 7 --stop 'vizier(warmup=2, startup=6)' -j 1 \
    -- python3 train.py {lr} 3
says '7 ok'
says_not pruned

# ---- the live line, while the third trial runs: two of 2 s beside one that was stopped at once
cat >live.py <<'P'
import itertools, os, pathlib, sys, time
home = pathlib.Path(os.environ['HOME'])
for n in itertools.count(1):
    try:
        os.close(os.open(home / f'live-{n}', os.O_CREAT | os.O_EXCL))
        break
    except FileExistsError:
        pass
print(f"loss={(2, 3, 1)[n - 1]}", flush=True)
time.sleep(2 if n != 2 else 60)
print("loss=0", flush=True)
P
terminal orch try -x 'lr=uniform(0, 1)' --search 'min loss' --trials 3 --stop asha -j 1 -- python3 live.py {lr} >live.out
grep -Eq '2 of 3 trials, 1 pruned \(about [0-9]+ % of the time saved\)' live.out || _fail "$(tr '\r' '\n' <live.out)"
