# What a search will cost before it runs, and how far its winner can be trusted when it has run.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
cat >train.py <<'P'
import os, sys
x, opt = float(sys.argv[1]), sys.argv[2]
seed = int(os.environ['ORCH_SEED'])
print('score=%.6f' % (1 + (seed * 2654435761 % 1000) / 1000 + (x if opt == 'far' else 0)))
P
git add train.py
git commit -qm train
search() { ok orch try -x 'x=uniform(0,0.001)' -x 'opt=choice(a,b)' --search 'max score' --trials "$@" -- python3 train.py {x} {opt}; }
search 6 --dry-run
says 'the search of train takes at most 6 trials; a grid with 5 values of each parameter would take 10 trials'
has '6 trials, each with values chosen when it starts' # one line
search 6 --dry-run --format tsv
same "$(grep -c waiting <<<"$out")" 6 'a table for programs has a row for each trial'
search 6
says 'chosen as the best of 6 settings, this value is partly luck'
again=$(sed -n 's/.*for an unbiased value, repeat the setting: //p' <<<"$err")
[ -n "$again" ] || _fail 'no command for fresh repeats'
# part of them have run: the plan is about the rest, with times
search 9 --dry-run
says 'search of train takes at most 3 trials, '
says '10 trials, '
eval "ok $again"
says '1 done before'
search 7
says '5 fresh repeats, not used to choose the setting, give'
says_not 'hint: fresh repeats'
# repeats tell the noise, and what the best of equal points shows
search 6 --repeat 3 --db "$SCRATCH/three.db"
says 'If all 6 settings were equally good, the best of them would still lead by '
ok orch best score --max --db "$SCRATCH/three.db"
has 'chosen as the best of 6 settings, this value is partly luck, on average by at most'
says 'hint: for an unbiased value, repeat the best setting with other seeds'
# a winner by far is none by luck
ok orch try -x 'x=int(1,4)' --search 'max score' --trials 4 --repeat 3 --db "$SCRATCH/far.db" -- python3 train.py {x} far
ok orch try -x 'x=choice(1,2,100)' --search 'max score' --trials 3 --repeat 3 --db "$SCRATCH/hundred.db" -- python3 train.py {x} far
says_not 'partly luck'
ok orch best score --max --db "$SCRATCH/hundred.db"
has_not 'partly luck'

# a parameter with a condition multiplies only the points that have it; a whole number has its values where they are fewer
ok orch try -x 'opt=choice(a,b)' -x 'm=uniform(0,1) if opt = a else 0' -x 'n=int(1,3)' -x 'x=loguniform(0.1,1)' --search 'max score' --trials 6 \
    --repeat 2 --dry-run -- python3 train.py {x} {opt} {m} {n}
says 'at most 12 trials' # with times where the earlier runs give a forecast
says 'a grid with 5 values of each parameter would take 180 trials'

# outside of a repository fresh repeats are those that read the same files
rm -rf .git
search 5 --db "$SCRATCH/bare.db"
says 'chosen as the best of 5 settings, this value is partly luck'
eval "ok orch try --db '$SCRATCH/bare.db' $(sed -n 's/.*for an unbiased value, repeat the setting: orch try//p' <<<"$err")"
search 5 --db "$SCRATCH/bare.db"
says '5 fresh repeats, not used to choose the setting, give'
