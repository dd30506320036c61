# A search with a rule is killed in the middle: the same command goes on, with the trials that ended and were stopped as its
# tried points, and runs none of them again.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
# The first trial is the best; the others wait after their second epoch. The fourth is where the runner is killed.
cat >train.py <<'P'
import itertools, os, pathlib, sys, time
home = pathlib.Path(os.environ['HOME'])
for n in itertools.count(1):
    try:
        with open(home / f'trial-{n}', 'x') as out:
            out.write(sys.argv[1])
        break
    except FileExistsError:
        pass
for epoch in range(1, 6):
    if n == 4 and epoch == 2:
        (home / 'kill-now').touch()
        time.sleep(60)
    print(f"epoch {epoch}/5 loss {n + 1 / epoch:.4f}", flush=True)
    if epoch == 2 and n > 1:
        time.sleep(60)
        sys.exit('nobody stopped it')
P
search=(orch try -x 'lr=uniform(0, 1)' --search 'min loss' --trials 5 --stop 'asha(min=2, factor=5)' -j 1
    -- python3 train.py '{lr}')
"${search[@]}" >/dev/null 2>&1 &
runner=$!
await -e "$HOME/kill-now"
kill -9 $runner
wait $runner 2>/dev/null || true
ok "${search[@]}"
says '1 done before, 2 pruned before'
says '2 pruned, 1 done'
says 'best of 5 settings: '
says 'last loss 1.2'
# three trials had ended; the fourth was lost and its point is open again, so two are left
[ -e "$HOME/trial-6" ] && [ ! -e "$HOME/trial-7" ] || _fail "trials: $(ls "$HOME")"
ok orch ls --state pruned --json
same "$(json runs.#)" 4
# each point was tried once: of the lost one, which may be chosen again, there is no result
ok orch ls --json
python3 - "$SCRATCH/out" <<'P' || _fail 'points that were tried twice'
import json, sys
runs = json.load(open(sys.argv[1]))['runs']
tried = [run['setting']['lr'] for run in runs if run['state'] in ('ok', 'pruned')]
assert len(tried) == len(set(tried)) == 5, tried
P
