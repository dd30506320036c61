# --budget and --deadline: no trial starts that would exceed the limit, running trials are cancelled when it is reached,
# the exit status is 6, and the same command resumes.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
sleeps naps '0.2'
ok orch run naps.recipe -x seconds=0.2
# 36 USD an hour: a second is a cent. Trials of the longer setting are forecast to take as long as its first one, as if that had
# taken 1,000 s: these do not fit into 5 USD, those of the other one do.
sleeps more '0.01, 0.02'
ok orch run more.recipe
lasted 1000 "id IN (SELECT run FROM param WHERE name = 'seconds' AND value = '0.02')"
sed -i 's/repeat: 1/repeat: 3/' more.recipe
fails 6 orch run more.recipe --budget 5usd --price 36 --json
same "$(json limits.stopped_by)" budget
same "$(json ended.ok)" 2
same "$(json not_run)" 2
python3 -c 'import sys; sys.exit(not 0 < float(sys.argv[1]) <= 5)' "$(json limits.spent_usd)" || _fail "spent $(json limits.spent_usd)"
says 'stopped by the budget: 2 trials not started, 0 cancelled'
says 'spent $'
says 'of $5'
says 'goes on from here'
# the same command, again: each invocation has the whole budget
ok orch run more.recipe --budget '$50' --price 36
says_not 'stopped by'
says '4 done before'
# nothing is left to do: 0, whatever the budget
ok orch run more.recipe --budget 0.000001usd --price 36
says 'spent $0.00 of $1e-06'
# the deadline: what is forecast to end behind it is not started
sleeps late '0.03, 0.04'
ok orch run late.recipe
lasted 4000 "id IN (SELECT run FROM param WHERE name = 'seconds' AND value = '0.04')"
sed -i 's/repeat: 1/repeat: 2/' late.recipe
fails 6 orch run late.recipe --deadline 1h --json
same "$(json limits.stopped_by)" deadline
same "$(json ended.ok)" 1
same "$(json limits.cancelled)" 0
# what is not forecast is started, and cancelled at the limit: recorded, and run again by the same command
printf 'format: 1\nrecipe: w\nexperiments:\n  e: { plugin: ./w.plugin, sweep: { n: [900, 800] } }\n' >w.recipe
printf 'plugin: w\nversion: 1.0.0\nabout: waits\nlicence: MIT\ncommand: [sh, w.sh, "${n}"]\nmetrics_from: lines\nparameters:\n  n: {type: int, default: 1, help: seconds}\nmetrics:\n  x: {help: nothing}\n' >w.plugin
printf ': >"$HOME/begun"\nexec sleep $1\n' >w.sh
for deadline in 1s 10s 100s; do # a busy machine may not begin a trial within a second
    fails 6 orch run w.recipe --deadline $deadline --json
    [ ! -e "$HOME/begun" ] || break
done
same "$(json limits.stopped_by) $(json limits.cancelled) $(json ended.cancelled)" 'deadline 1 1'
same "$(json not_run)" 1
says 'the deadline has come: 1 running trial is cancelled'
fails 6 orch run w.recipe --budget 0.01usd --price 36 --json
same "$(json limits.stopped_by) $(json limits.cancelled)" 'budget 1'
says 'the budget is spent'
ok orch ls --json
has cancelled
printf 'exec sleep 0.0$1\n' >w.sh
ok orch run w.recipe --deadline 1h
says '2 ok'
# a device is a GPU, or the machine; several trials at once cost several times as much
printf 'exec sleep 0.4\n' >w.sh
ok orch run w.recipe -x n=1,2,3,4 -j 2 --budget 1usd --price 36 --json
python3 -c 'import sys; sys.exit(not 0.016 <= float(sys.argv[1]) < 1)' "$(json limits.spent_usd)" || _fail "spent $(json limits.spent_usd)"
# bad values
for wrong in '--budget 0 --price 1' '--budget -1usd --price 1' '--budget five --price 1' '--budget 5eur --price 1' '--price 0' \
    '--price x' '--deadline 25:00' '--deadline soon' '--deadline 0s' '--deadline 12' '--deadline 2020-01-01T00:00' '--deadline 12:00x'; do
    fails 2 orch run naps.recipe $wrong
    says "${wrong%% *}"
    fails 2 orch run naps.recipe $wrong --dry-run
done
fails 2 orch run naps.recipe --budget 5usd
says '--price USD'
for right in '2h' '90min' '1h30min' '23:59' '23:59:59' '2999-01-01T18:00' '2999-01-01 18:00' '2999-01-01T18:00:00Z'; do
    ok orch run naps.recipe -x seconds=0.2 --deadline "$right"
    ok orch run naps.recipe --dry-run --deadline "$right"
done
