# Under 'stop: asha' a trial that was stopped goes on when worse ones have come since: before new points, once from each value
# at which it was judged, and within the budget of the search. The same command after kill -9 does it, too.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
. "$(dirname "$0")/points.sh"
# The values of the five points, in the order of their starts, at each epoch. The second one is stopped as the worse of two, and
# is one of the best two of four. A trial that is to be stopped waits; a number before 'w' is how long it takes.
cat >train.py <<'P'
import sys, time
from points import home, log, start
mode = [path.name for path in home.glob('*')]
n, is_again = start(sys.argv[1])
log(n)
before = home / f'printed-{n - 1}'
while n > 1 and not is_again and not before.exists():
    time.sleep(0.05)
time.sleep(0.3)
second = [6, 8, 8, 8] if 'bad' in mode else [6, 1, 1, 1]
curve = {1: [5] * 4, 2: second, 3: [9] * 4, 4: [10] * 4, 5: [4, 0.5, 2, 2]}[n]
if 'slow' in mode and n == 4:
    time.sleep(6)
for epoch, loss in enumerate(curve, 1):
    if is_again and epoch == 2 and 'fail' in mode:
        sys.exit('it cannot go on')
    if is_again and epoch == 2 and 'kill' in mode:
        (home / 'kill-now').touch()
        time.sleep(15)
    while (n, epoch) == (5, 2) and not (home / 'passed').exists():
        time.sleep(0.05)
    print(f'epoch {epoch} loss {loss}', flush=True)
    if is_again and epoch == 3:
        (home / 'passed').touch()
    (home / f'printed-{n}').touch()
    time.sleep(0.1)
    if n in (2, 3, 4) and not is_again or is_again and epoch == 2 and 'bad' in mode:
        time.sleep(15)
        sys.exit('nobody stopped it')
P
points_plugin epoch '${lr}'
recipe() { # recipe TRIALS [BUDGET]
    cat >t.recipe <<R
format: 1
recipe: t
experiments:
  e:
    plugin: ./t.plugin
    search: { lr: "uniform(0, 1)" }
    objective: { metric: min loss, trials: $1, sampler: sobol, stop: "asha(min=1, factor=2)"${2:-} }
R
}
again() { # again [MODE]...: another search
    rm -rf .orch "$HOME"/*
    for mode; do
        touch "$HOME/$mode"
    done
}

for jobs in 1 2; do
    again
    recipe 5
    ok orch run t.recipe -j $jobs --json
    same "$(json ended.ok)" 3
    same "$(json ended.pruned)" 2
    same "$(json promoted)" 1
    same "$(json pruned_before)" 0
    says 'begins again, because there is no checkpoint: 6 after 1 value; 1 of 4 trials are better, the best 2 go on'
    says '3 ok, 2 pruned, 1 promoted'
    says 'best of 5 settings: '
    says 'last loss 1'
    says '2 trials were pruned, and 1 stopped trial resumed and ended'
    # it comes before the fifth point; at once with it, either may write first
    [ $jobs = 2 ] || same "$(cat "$HOME/log")" '1 2 3 4 2 5 '
    same "$(tr ' ' '\n' <"$HOME/log" | sort | xargs)" '1 2 2 3 4 5'
    ok orch ls --json --state pruned
    same "$(json runs.#)" 3
    # all is as it should be: nothing more goes on
    ok orch run t.recipe -j $jobs
    says 'nothing to run: 3 of 5 trials are done'
    says '3 done before, 2 pruned before'
    same "$(wc -w <"$HOME/log")" 6
done

# of three trials the best one has gone on already
again
recipe 3
ok orch run t.recipe -j 1
says '1 ok, 2 pruned'
says_not 'goes on from'
# one more, in another command
recipe 4
ok orch run t.recipe -j 1
says '1 ok, 1 pruned, 1 done before, 1 pruned before, 1 promoted'
same "$(cat "$HOME/log")" '1 2 3 4 2 '

# it is stopped at the next value at which trials are judged, and does not go on twice from one
again bad
recipe 4
ok orch run t.recipe -j 1
says '1 ok, 3 pruned, 1 promoted'
says '8 after 2 values; 1 of 2 trials are better'
same "$(cat "$HOME/log")" '1 2 3 4 2 '
ok orch run t.recipe -j 1
says 'nothing to run: 1 of 4 trials are done'

# one that fails does not go on again by itself
again fail
fails 1 orch run t.recipe -j 1
says '1 ok, 1 failed, 2 pruned, 1 promoted'
ok orch run t.recipe -j 1
says '1 done before, 3 pruned before'
same "$(cat "$HOME/log")" '1 2 3 4 2 '

# killed while it goes on
again kill
recipe 5
orch run t.recipe -j 1 >log 2>&1 &
runner=$!
await -e "$HOME/kill-now" log
kill -9 $runner
wait $runner 2>/dev/null || true
rm "$HOME/kill"
ok orch run t.recipe -j 1
says 'begins again, because'
says '2 ok, 1 done before, 2 pruned before, 1 promoted'
says 'best of 5 settings: '
says 'last loss 1'
same "$(cat "$HOME/log")" '1 2 3 4 2 2 5 '

# what the search may spend is spent
again slow
recipe 5 ', budget: 6s'
ok orch run t.recipe -j 1
says '1 ok, 3 pruned, 1 not needed'
says_not 'goes on from'
recipe 5 ', budget: 2h'
# a limit of the command keeps it from starting: it has not gone on, and is told of as pruned
echo 'allowance: 0.001 h' >>t.recipe
fails 6 orch run t.recipe -j 1 --json
same "$(json promoted)" 0
same "$(json pruned_before)" 3
same "$(json not_run)" 1
same "$(json limits.held_back)" 1 'held back'
says '1 trial not started'
same "$(of_json 'sorted(t["state"] for t in it["trials"])')" '["done","pruned","pruned","pruned","waiting"]' 'states of the trials'
says_not 'begins again, because'
says_not 'nothing to run'
says '1 done before, 3 pruned before, 1 not run'
same "$(cat "$HOME/log")" '1 2 3 4 '
sed -i '/^allowance/d' t.recipe
ok orch run t.recipe -j 1
says '2 ok, 1 done before, 2 pruned before, 1 promoted'
same "$(cat "$HOME/log")" '1 2 3 4 2 5 '
