# A search tries no values twice, and says when there are no others; a choice is its value, however it is written.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
cat >train.py <<'P'
import math, sys, time
a = dict(word.lstrip('-').split('=') for word in sys.argv[1:])
time.sleep(float(a.get('s', 0)))
print('loss=%.6f' % (float(a.get('lr', 1)) + float(a.get('s', 0))))
P
git add train.py
git commit -qm train
lrs() { orch ls "$@" --json | python3 -c 'import json, sys
for r in json.load(sys.stdin)["runs"]: print(" ".join(f"{k}={v}" for k, v in sorted(r["setting"].items())))' | sort; }

# a space of few points: each is tried once, and the search says that there are no others
ok orch try -x 'lr=choice(1, 2, 3)' -x 's=choice(0, 0.01)' --search 'min loss' --trials 20 --db few.db -- python3 train.py --lr={lr} --s={s}
says 'ends: the sampler finds only settings that were already tried'
says '14 not needed'
same "$(lrs --db few.db | sort -u | wc -l)" 6 'points'
# the same, at random, and by whole numbers along a logarithm
ok orch try -x 'lr=int(1, 9, log)' --search 'min loss' --trials 20 --sampler random --db whole.db -- python3 train.py --lr={lr}
says '11 not needed'
same "$(lrs --db whole.db | sort -u | wc -l)" 9 'points'

# a choice is its value: a run of 0.01 s is one of 10ms
choices() {
    cat >s.recipe <<R
format: 1
recipe: s
experiments:
  tune:
    plugin: sleep
    search: { seconds: [$1] }
    objective: { metric: min slept_s, trials: 2 }
R
}
choices '10ms, 20ms'
git add .
git commit -qm sleep
ok orch run s.recipe
ok orch run s.recipe
says 'nothing to run'
choices '0.01, 10ms'
fails 2 orch check s.recipe
says "the choices '0.01' and '10ms' are the same value"

# values that are not numbers are no missing metric: the search goes on, and the best is a number
cat >nan.py <<'P'
import sys
lr = float(sys.argv[1])
print('loss=%s' % ('nan' if lr > 0.1 else lr))
P
git add nan.py
git commit -qm nan
ok orch try -x 'lr=uniform(0, 1)' --search 'min loss' --trials 10 --db nan.db -- python3 nan.py {lr}
says '10 ok'
says 'best of 10 settings: '
says 'last loss 0.0'
fails 2 orch try -x 'lr=uniform(0, 1)' --search 'min accuracy' --trials 10 --db other.db -- python3 nan.py {lr}
says "no run of the search has a metric or result 'accuracy'"
