# What a limit lets end is said before a run with 90 %, compared with what ended, and scored.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
sleeps p '0.01, 0.02'
# the first runs have no forecast
ok orch run p.recipe --budget 1h
says 'how many trials end within 1 h 0 min of device time is not known: 2 of 2 have no forecast'
ok orch predictor score --json
same "$(json promises.made)" 0
# 36 USD an hour: a second is a cent. Two more repeats of each setting; those of the longer one do not fit into 5 USD.
lasted 1000 "id IN (SELECT run FROM param WHERE name = 'seconds' AND value = '0.02')"
sed -i 's/repeat: 1/repeat: 3/' p.recipe
ok orch run p.recipe --dry-run --budget 5usd --price 36
says '2 of 4 trials within $5.00 with 90 %; the rest would need $'
ok orch run p.recipe --dry-run --deadline 100h
says '4 of 4 trials by 2'
fails 6 orch run p.recipe --budget 5usd --price 36 --json
says '2 of 4 trials within $5.00 with 90 %; the rest would need $'
says 'forecast (90 %): 2 of 4 trials would end within the limits; 2 did'
same "$(json limits.promise.trials) $(json limits.promise.ended) $(json limits.promise.held)" '2 2 true'
python3 -c 'import sys; sys.exit(not 1000 < float(sys.argv[1]) < 4000)' "$(json limits.promise.more_device_s)" || _fail 'the rest'
# the trials of a search, whose values are not chosen yet, count as spread over its ranges
echo 'sleep $1; echo loss=$1' >f.sh
search() { ok orch try -x 's=uniform(0.1, 0.4)' --search 'min loss' --sampler sobol --trials "$@" -- sh f.sh '{s}'; }
search 8
search 12 --deadline 1h
says '4 of 4 trials by 2'
says 'forecast (90 %): 4 of 4 trials would end within the limits; 4 did'
# a trial that takes far longer than any before it
printf 'format: 1\nrecipe: w\nexperiments:\n  e: { plugin: ./w.plugin, inputs: [w.plugin], repeat: 2 }\n' >w.recipe
printf 'plugin: w\nversion: 1.0.0\nabout: waits\nlicence: MIT\ncommand: [sh, w.sh]\nmetrics_from: lines\nmetrics:\n  x: {help: nothing}\n' >w.plugin
echo 'sleep $(cat takes)' >w.sh
echo 0 >takes
git add .
git commit -qm one
ok orch run w.recipe
lasted 0.02 "experiment = 'e'"
echo 60 >takes
fails 6 orch run w.recipe --force --budget 0.01usd --price 36
says 'forecast (90 %): 2 of 2 trials would end within the limits; 0 did'
# where a trial fails by itself, nothing is said of the promise
echo 'exit 1' >w.sh
fails 1 orch run w.recipe --force --budget 1h
says '2 of 2 trials within 1 h 0 min of device time with 90 %'
says_not 'forecast (90 %)'
ok orch predictor score
says '2 of 3 forecasts of how many trials end within a limit were right'
