# A rule that can stop nothing says why: values that come all at once, brackets without trials, lengths.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
# values fall to lr, in steps of 1, and come when the trial is over; "again" numbers each half of the steps from 1
cat >train.py <<'P'
import sys
lr, count, how = float(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
print("\n".join(f"epoch {1 + n % (count // 2) if how == 'again' else n + 1} loss {lr + count - n - 1}" for n in range(count)), flush=True)
P
git add .
git commit -qm train
search() { # search RULE TRIALS VALUES HOW
    rm -rf .orch
    ok orch try -x 'lr=uniform(0,1)' --sampler sobol --search 'min loss' --trials "$2" --stop "$1" -j 1 -- python3 train.py '{lr}' "$3" "$4"
}

# those that would have been stopped are counted, also when one is stopped while it ends, and there is a way out
search 'median(warmup=1, startup=2)' 6 8 once
says "'stop' came too late for "
says "all values of 'loss' arrived at once"
says 'flush=True'
search 'median(warmup=8)' 6 8 once
says "the rule 'stop' could stop no trial by its values of 'loss': the rule needs more than 9 values of a trial, but no trial has more than 8"
search 'vizier' 5 20 once
says 'the rule needs more than 5 trials that ended, but the search had 5'
search 'asha(min=9)' 3 8 once
says 'the rule needs more than 9 values of a trial'
search 'asha' 1 8 once
says 'the search has only one trial'
search 'hyperband' 2 8 once
says "the rule 'stop' could stop no trial by its values of 'loss': bracket 3 needs trials with more than 1 value, but has one trial; bracket 2 needs trials with more than 3 values, but has one trial; bracket 1 needs trials with more than 9 values, but has no trial"
search 'hyperband' 16 8 once
says "the rule 'stop' could stop no trial in some brackets by its values of 'loss': bracket 1 needs trials with more than 9 values, but has trials of at most 8 values"
search 'median' 6 8 again
says "by its values of 'loss': the step numbers of a trial begin again; count them on to its end"
search 'forecast' 5 8 once
says 'the rule needs more than 5 trials that ended'

# trials that the user lets run to their end came in time
cat >train.py <<'P'
import sys, time
for epoch in range(1, 13):
    print(f"epoch {epoch}/12 loss={float(sys.argv[1]) + .5 / epoch}", flush=True)
    time.sleep(.03)
P
git commit -qam slow
search() { ok orch try -x 'lr=uniform(0,1)' --search 'min loss' --stop median --trials 14 --seed 5 --sampler random -j 1 "$@" -- python3 train.py '{lr}'; }
rm -rf .orch
search
says 'pruned, which saved'
search --continue-pruned
says 'stopped trials resumed and ended'
says_not 'came too late'
