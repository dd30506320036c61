# A search: values of trials are chosen from the results so far, and the store is all that it remembers.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
cat >train.py <<'P'
import math, sys, time
a = dict(word.lstrip('-').split('=') for word in sys.argv[1:])
lr, opt = float(a['lr']), a.get('opt', 'adam')
best = {'sgd': 0.1, 'adam': 0.002}[opt]
if a.get('slow'):
    time.sleep(0.3)
if lr > 0.3:
    sys.exit('diverged')
print('val_acc=%.6f' % (0.9 * math.exp(-((math.log(lr) - math.log(best)) / 2)**2) + (0.05 if opt == 'adam' else 0)))
P
git add train.py
git commit -qm train
search() { ok orch try -x 'lr=loguniform(1e-4, 0.3)' -x 'opt=choice(sgd, adam)' --search 'max val_acc' "$@" -- python3 train.py --lr={lr} --opt={opt}; }
points() { orch ls --json | json_all runs setting.lr; }
json_all() { python3 -c 'import json,sys
for r in json.load(sys.stdin)[sys.argv[1]]:
    v = r
    for k in sys.argv[2].split("."): v = v[k]
    print(v)' "$@"; }

search --trials 12
says 'best of 12 settings'
best=$(grep -o 'last val_acc 0.9[0-9]*' <<<"$err")
[ -n "$best" ] || _fail 'random values of these ranges seldom reach 0.9, the search does in 12 trials'
ok orch ls --json
same "$(json runs.#)" 12
same "$(points | sort -u | wc -l)" 12 'distinct points'
# the same command has nothing to do; more trials go on where it was
search --trials 12
says 'nothing to run'
search --trials 14
says '12 done before'
ok orch ls --json
same "$(json runs.#)" 14
# it ends where it is good enough
search --trials 30 --until 0.9
says '16 not needed'
ok orch ls --json
same "$(json runs.#)" 14

# the same seed and the same results give the same points, in another store, too
first=$(points | sort)
search --trials 14 --db "$SCRATCH/other.db"
same "$first" "$(orch ls --db "$SCRATCH/other.db" --json | json_all runs setting.lr | sort)" 'the same search again'

# killed in the middle, it goes on: no point is tried twice
slow() { orch try -x 'lr=loguniform(1e-4, 0.3)' --search 'max val_acc' --trials 8 --db "$SCRATCH/slow.db" --no-progress -- python3 train.py --lr={lr} --slow=1; }
slow >slow.out 2>&1 &
for i in $(seq 300); do
    [ "$(orch ls --db "$SCRATCH/slow.db" --json 2>/dev/null | json_all runs key | wc -l)" -ge 2 ] && break
    sleep 0.1
done
pkill -9 -P $! orch || kill -9 $!
wait 2>/dev/null
ok slow
ok orch ls --db "$SCRATCH/slow.db" --json --where 'state = ok'
same "$(json runs.#)" 8
same "$(orch ls --db "$SCRATCH/slow.db" --json --where 'state = ok' | json_all runs setting.lr | sort -u | wc -l)" 8 'distinct points'

# trials at once have points of their own; trials that fail are no end
fails 1 orch try -x 'lr=loguniform(1e-4, 1)' --search 'max val_acc' --trials 12 -j 3 --keep-going --db "$SCRATCH/three.db" -- python3 train.py --lr={lr}
ok orch ls --db "$SCRATCH/three.db" --json
same "$(json runs.#)" 12
same "$(orch ls --db "$SCRATCH/three.db" --json | json_all runs setting.lr | sort -u | wc -l)" 12 'distinct points'
# what failed before is known to the search that goes on: it does not try the same values again
failed=$(orch ls --db "$SCRATCH/three.db" --json --where 'state = failed' | json_all runs setting.lr | wc -l)
[ "$failed" -ge 1 ] || _fail 'some trials fail'
_run orch try -x 'lr=loguniform(1e-4, 1)' --search 'max val_acc' --trials 12 --keep-going --db "$SCRATCH/three.db" -- python3 train.py --lr={lr}
says "$((12 - failed)) done before"
same "$(orch ls --db "$SCRATCH/three.db" --json | json_all runs setting.lr | sort -u | wc -l)" $((12 + failed)) 'distinct points'
