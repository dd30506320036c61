# A point of which a repeat was pruned is no best point: neither by the value that the trial had when it was stopped, nor by
# the repeats that were not. Both are better here than what the other point has.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
cat >train.py <<'P'
import itertools, os, pathlib, sys, time
home = pathlib.Path(os.environ['HOME'])
for n in itertools.count(1):
    try:
        os.close(os.open(home / f'trial-{n}', os.O_CREAT | os.O_EXCL))
        break
    except FileExistsError:
        pass
# first point, second point, and their second repeats; the losses rise at the end
early, end = {1: (1, 10), 2: (2, 2), 3: (0.5, 10), 4: (0.1, 1)}[n]
for epoch in range(1, 4):
    print(f"epoch {epoch}/3 loss {early if epoch < 3 else end}", flush=True)
    if epoch == 2 and n == 2:
        time.sleep(60)
        sys.exit('nobody stopped it')
P
ok orch try -x 'lr=uniform(0, 1)' --search 'min loss' --trials 2 --repeat 2 --until 5 --stop 'asha(min=2, factor=2)' -j 1 \
    -- python3 train.py {lr}
says '3 ok, 1 pruned'
says 'best of 2 settings: '
says 'last loss 10'
says_not 'not needed'
ok orch ls --json
same "$(json runs.#)" 4
