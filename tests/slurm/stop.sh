# A rule that stops trials of a search on Slurm: each command judges the values that have come since the last one, and the hosts
# of the trials that are to end see that in their folders. A trial that is good after all goes on from its checkpoint. With
# stand-ins for Slurm's programs.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
. "$(dirname "$0")/slurm.sh"
. "$(dirname "$0")/../search/points.sh"
# The first value of each trial, in the order of their starts. Each then waits until it is freed.
cat >train.py <<'P'
import pathlib, sys, time
from points import home, log, start
state = pathlib.Path(sys.argv[2]) / 'epoch'
n, _ = start(sys.argv[1])
first = int(state.read_text()) if state.exists() else 0
log(f'{n}:{first}')
for epoch in range(first + 1, 4):
    state.write_text(str(epoch))
    print(f'epoch {epoch} loss {[7, 6, 9, 8, 10, 11][n - 1] / epoch}', flush=True)
    (home / f'printed-{n}').touch()
    while epoch == 1 and home.exists() and not (home / 'free').exists():
        time.sleep(0.05)
P
points_plugin epoch '${lr}' '${checkpoint_dir}'
cat >s.recipe <<'R'
format: 1
recipe: s
slurm: { partition: p }
experiments:
  e:
    plugin: ./t.plugin
    search: { lr: "uniform(0, 1)" }
    objective: { metric: min loss, trials: 6, sampler: sobol, stop: "asha(min=1, factor=2)" }
R
submit() {
    minute
    ok orch run s.recipe --executor slurm -j 6 "$@"
}
begin() { # begin INDEX NUMBER: until its first value is in the journal
    play 101 "$1" &
    for ((i = 0; i < 400; i++)); do
        [ "$(cat .orch/results.db.d/trials/*/journal 2>/dev/null | grep -c '"loss"')" -lt "$2" ] || return 0
        sleep 0.05
    done
    _fail "trial $2 has no value"
}
submit
says 'submitted 6 trials as Slurm job 101'
says "experiment 'e' stops trials early ('stop'): repeat this command to judge the running trials"

# the first one is judged alone, and the better second one does not change that
set_state 101_0 RUNNING
begin 0 1
submit
says_not 'asked to stop'
set_state 101_1 RUNNING
begin 1 2
submit
says_not 'asked to stop'
for index in 2 3 4 5; do
    set_state "101_$index" RUNNING
    begin $index $((index + 1))
done
submit --json
same "$(json stopped) $(json promoted) $(json submitted) $(json held)" '4 0 0 6'
says '9 after 1 value; 2 of 3 trials are better, the best 1 go on'
says '8 after 1 value; 2 of 4 trials are better, the best 2 go on'
says '4 submitted trials were asked to stop early (pruned): they stop within 5 s'
for ((i = 0; i < 800; i++)); do
    [ "$(grep -cE 'COMPLETED|FAILED' "$CLUSTER/jobs/101/changes")" -lt 4 ] || break
    sleep 0.05
done
[ "$(grep -cE 'COMPLETED|FAILED' "$CLUSTER/jobs/101/changes")" -ge 4 ] || _fail 'the trials do not end'

# of six values the one that was stopped as the third of four is among the best three
submit
says 'collected 4 trials of Slurm jobs: 4 pruned'
says_not 'asked to stop' # once
says '1 pruned trial resumes, because it is among the best now'
says 'submitted 1 trial as Slurm job 102'
touch "$HOME/free"
play 102
wait
minute
ok orch collect
says '3 ok'
submit
says 'nothing to submit: 3 done'
same "$(cat "$HOME/log")" '1:0 2:0 3:0 4:0 5:0 6:0 4:1 '
ok orch ls --state pruned --json
same "$(json runs.#)" 4
ok orch show "$(json runs.0.key)" --json
has 'trials are better'

# the rule judges no trial that is to run to its end: three are pruned, and none was judged
submit --continue-pruned
says 'submitted 3 trials as Slurm job 103'
for folder in .orch/results.db.d/trials/*/; do
    same "$(cat "$folder/judged")" 9223372036854775807
done
play 103
minute
ok orch collect
says '3 ok'
ok orch db check
