# A trial that a rule stopped counts for the sampler with what it would have ended with, however many values came before it was stopped:
# where all curves have one shape, the search tries the same settings as without a rule.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
cat >train.py <<'P'
import os, sys, time
x, y = map(float, sys.argv[1:3])
with open(os.environ['TRIED'], 'a') as file:
    print(x, y, file=file)
for epoch in range(1, 7):
    print(f'epoch {epoch} score {-20 * 0.25**epoch - (x - 0.3)**2 - 2 * (y - 0.8)**2:.9f}', flush=True)
    time.sleep(0.05)
P
tries() { # tries NAME OPTION...: a search in a store of its own
    ORCH_DB=$PWD/$1.db TRIED=$SCRATCH/$1 ok orch try -x 'x=uniform(0, 1, step 0.05)' -x 'y=uniform(0, 1, step 0.05)' --search 'max score' \
        --trials 12 "${@:2}" -- python3 train.py '{x}' '{y}'
}
tries whole
tries stopped --stop 'median(warmup=1, startup=1)'
says 'pruned'
same "$(cat "$SCRATCH/stopped")" "$(cat "$SCRATCH/whole")" 'the settings'
