# Forecasts of a plan's trials: none, measured and fitted ones, their total, and their grades after the run.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
sleeps naps '0.1, 0.2, 0.3' 2
# nothing is known, and nothing is made up
ok orch plan naps.recipe --json
same "$(json trials.0.forecast) $(json forecast.trials) $(json forecast.total_s)" 'null 0 null'
says_not forecast
ok orch plan naps.recipe
has 'forecast'
ok orch run naps.recipe -x seconds=0.1,0.2
says 'within the 90 % interval'
# the very same trial, and others by a law
ok orch plan naps.recipe -x seconds=0.1,0.4,500 --force --json
printf '%s' "$out" | python3 -c '
import json, sys
plan = json.load(sys.stdin)
by = {t["params"]["seconds"]: t["forecast"] for t in plan["trials"]}
assert by[0.1]["tier"] == "measured" and "2 runs" in by[0.1]["because"], by
assert abs(by[0.1]["total_s"] - 0.1) < 0.05 and by[0.1]["low_s"] < by[0.1]["total_s"] < by[0.1]["high_s"]
assert by[0.4]["tier"] == "fitted" and 0.15 < by[0.4]["total_s"] < 0.9, by
assert by[500] is None, by   # far beyond what was measured: not made up
total = plan["forecast"]
assert (total["trials"], total["unknown"]) == (4, 2), total
assert abs(total["total_s"] - 2 * (by[0.1]["total_s"] + by[0.4]["total_s"])) < 1e-9
assert total["low_s"] < total["total_s"] < total["high_s"] and total["cost_usd"] is None
' || _fail 'the forecasts are wrong'
ok orch plan naps.recipe
has ', fitted'
says 'forecast (90 % interval): '
says 'for 2 trials'
# money: hours x devices x price
ok orch plan naps.recipe --price 36 --json
printf '%s' "$out" | python3 -c '
import json, sys
f = json.load(sys.stdin)["forecast"]
assert f["cost_low_usd"] < f["cost_usd"] < f["cost_high_usd"] and f["interval"] == 0.9, f
assert abs(f["cost_usd"] - f["device_s"] / 100) < 1e-12 and f["price_from"] == "--price", f
' || _fail 'the cost is wrong'
# the same things have the same names in 'orch plan' and 'orch predict'
python3 - "$out" "$(orch predict --gpu V100 --net resnet18 --json)" <<'P' || _fail 'two names for one thing'
import json, sys
plan, predict = map(json.loads, sys.argv[1:])
names = {"total_s", "low_s", "high_s", "tier", "because", "cost_usd", "cost_low_usd", "cost_high_usd"}
one, other = [t["forecast"] for t in plan["trials"] if t["forecast"]][0], predict["predictions"][0]
assert names <= set(one) and names <= set(other), (set(one), set(other))
assert set(plan["forecast"]) >= names - {"tier", "because"} | {"usd_per_hour", "price_from", "interval"}
assert predict["interval"] == plan["forecast"]["interval"] and {"usd_per_hour", "price_from"} <= set(other)
P
fails 2 orch plan naps.recipe --price 0
says --price
# two at once take half as long, but timing trials run alone
printf 'format: 1\nrecipe: c\nexperiments:\n  e:\n    plugin: ./count.plugin\n    sweep: { n: [1, 2, 3, 4] }\n' >c.recipe
printf 'plugin: count\nversion: 1.0.0\nabout: waits\nlicence: MIT\ncommand: [sh, wait.sh, "${n}"]\nmetrics_from: lines\nparameters:\n  n: {type: int, default: 1, help: tenths}\nmetrics:\n  x: {help: nothing}\n' >count.plugin
printf 'sleep 0.$1\necho x 1\n' >wait.sh
ok orch run c.recipe -x n=1,2,3
ok orch plan c.recipe --force --json
one=$(json forecast.total_s)
same "$(json trials.3.forecast.tier)" fitted
same "$(json trials.0.forecast.tier)" measured
ok orch plan naps.recipe -x seconds=0.1,0.2 -j 2 --force --json
alone=$(json forecast.total_s)
python3 -c 'import sys; sys.exit(not 0.5 < float(sys.argv[1]) < 0.9)' "$alone" || _fail "timing trials were not added up: $alone"
# kept, and graded
ok orch run naps.recipe --json
printf '%s' "$out" | python3 -c '
import json, sys
f = json.load(sys.stdin)["forecasts"]
assert f["graded"] == 2 and f["median_relative_error"] < 0.6, f
' || _fail 'the run was not graded'
ok orch predictor score --json
printf '%s' "$out" | python3 -c '
import json, sys
rows = json.load(sys.stdin)["scores"]
whole = [r for r in rows if r["tier"] == "all"]
assert rows[-1] in whole and sum(r["forecasts"] for r in whole) == sum(r["forecasts"] for r in rows if r not in whole)
assert all(r["made"] in ("before the run", "during the run") for r in rows), rows
assert {"fitted", "measured"} <= {r["tier"] for r in rows}, rows
assert all(0 <= r["coverage_90"] <= 1 for r in rows)
' || _fail 'the scores are wrong'
ok orch predictor score
has 'median_error'
has threads
fails 2 orch predictor score --gpu V100
says "unknown option '--gpu'"
# a declared cost that nobody ran: the prior, where the device is known
cat >train.plugin <<'P'
plugin: train
version: 1.0.0
about: declares a cost
licence: MIT
command: [sh, wait.sh, "1"]
metrics_from: lines
parameters:
  net: {type: string, default: resnet18, help: network}
  epochs: {type: int, default: 1, help: passes}
metrics:
  x: {help: nothing}
cost: {network: "${net}", input: "3x32x32", classes: "10", images: "50000", batch: "128", epochs: "${epochs}", precision: fp32, training: "true"}
P
cat >t.recipe <<'R'
format: 1
recipe: t
experiments:
  e: { plugin: ./train.plugin, sweep: { net: [resnet18, resnet50] } }
R
ok orch plan t.recipe --json
same "$(json trials.0.forecast)" null 'a device that nobody measured'
mkdir -p "$XDG_DATA_HOME/orch/devices" # as 'orch doctor --bench' leaves it
printf 'gpus:\n- {name: here, fp32_tflops: 0.1, bandwidth_gbs: 20, memory_gb: 8}\n' \
    >"$XDG_DATA_HOME/orch/devices/$(sqlite3 .orch/results.db 'SELECT key FROM machine LIMIT 1').yaml"
ok orch plan t.recipe --json
same "$(json trials.0.forecast.tier) $(json trials.1.forecast.model)" 'prior roofline'
python3 -c 'import sys; a, b = map(float, sys.argv[1:]); sys.exit(not b > a > 1)' "$(json trials.0.forecast.total_s)" \
    "$(json trials.1.forecast.total_s)" || _fail 'the larger network is not slower'
# one run of it: others are scaled by the work that they declare
ok orch run t.recipe -x net=resnet18
ok orch plan t.recipe -x net=resnet18 -x epochs=1,10 --json
same "$(json trials.1.forecast.tier)" fitted
python3 -c 'import sys; sys.exit(not 0.7 < float(sys.argv[1]) < 2)' "$(json trials.1.forecast.total_s)" || _fail 'not scaled by its epochs'
ok orch run t.recipe --smoke
says_not forecast
# what is left of a running trial, by its own steps; on another GPU by the roofline
cat >steps.plugin <<'P'
plugin: steps
version: 1.0.0
about: tells its progress
licence: MIT
command: [sh, steps.sh]
metrics_from: protocol
parameters:
  net: {type: string, default: resnet18, help: network}
metrics:
  x: {help: nothing}
cost: {network: "${net}", input: "3x32x32", classes: "10", images: "50000", batch: "128", epochs: "1", precision: fp32, training: "true"}
P
cat >steps.sh <<'E'
i=0
while [ $i -lt 100 ]; do i=$((i + 5)); sleep 0.55; echo "{\"event\":\"progress\",\"done\":$i,\"total\":100}" >&$ORCH_EVENTS; done
echo '{"event":"done","status":"ok"}' >&$ORCH_EVENTS
E
printf 'format: 1\nrecipe: s\nexperiments:\n  e: { plugin: ./steps.plugin }\n' >s.recipe
orch run s.recipe -q >"$SCRATCH/log" 2>&1 &
for i in $(seq 100); do
    key=$(sqlite3 .orch/results.db 'SELECT key FROM active' 2>/dev/null)
    [ -n "$key" ] && break
    sleep 0.1
done
for i in $(seq 100); do
    ok orch show "$key" --json
    case $out in *'"remaining": null'* | *'"estimate": "forecast"'*) ;; *) break ;; esac
    sleep 0.2
done
printf '%s' "$out" | python3 -c '
import json, sys
run = json.load(sys.stdin)
left = run["remaining"]
share = 1 - run["progress"]["done"] / 100
assert 0.5 * share * 11 < left["seconds"] < 2 * share * 11, run
assert left["low_s"] <= left["seconds"] <= left["high_s"]
' || _fail 'the remaining time is wrong'
ok orch show "$key"
has 'remaining  '
has ' of 100 ('
# this machine's device is known (above): the ratio of two rooflines
ok orch show "$key" --on V100 --json
same "$(json elsewhere.tier) $(json elsewhere.gpu)" 'transferred V100-SXM2-16GB'
python3 -c 'import sys; here, there = map(float, sys.argv[1:]); sys.exit(not 0 < there < here / 10)' "$(json remaining.seconds)" \
    "$(json elsewhere.seconds)" || _fail 'a V100 is not ten times as fast as 0.1 TFLOP/s'
rm -r "$XDG_DATA_HOME/orch/devices"
ok orch show "$key" --on V100
has ', transferred: '
fails 2 orch show "$key" --on V10O
says 'did you mean'
kill %1
wait
fails 2 orch show @last --on V100
says "option '--on' needs a running trial"
# a program that tells no progress: by its forecast, until it runs for longer than that
printf 'plugin: quiet\nversion: 1.0.0\nabout: waits\nlicence: MIT\ncommand: [sh, quiet.sh, "%s"]\nmetrics_from: lines\nmetrics:\n  x: {help: nothing}\n' \
    "$SCRATCH/seconds" >quiet.plugin
printf 'sleep $(cat $1)\necho x 1\n' >quiet.sh
printf 'format: 1\nrecipe: q\nexperiments:\n  e: { plugin: ./quiet.plugin }\n' >q.recipe
echo 0.4 >"$SCRATCH/seconds"
ok orch run q.recipe -q
echo 60 >"$SCRATCH/seconds"
orch run q.recipe --force -q >"$SCRATCH/log" 2>&1 &
for i in $(seq 200); do
    key=$(sqlite3 .orch/results.db 'SELECT key FROM active JOIN forecast ON run = key' 2>/dev/null)
    [ -n "$key" ] && break
    sleep 0.1
done
# as if it had been forecast so: times of its own would depend on how busy this machine is
forecast() { sqlite3 .orch/results.db ".timeout 9000" "UPDATE forecast SET p5 = $1, p50 = $2, p95 = $3 WHERE run = '$key'"; }
forecast 3000 4000 6000
ok orch show "$key" --json
same "$(json remaining.estimate) $(json remaining.tau_s) $(json forecast.longer_than_forecast)" 'forecast null false'
printf '%s' "$out" | python3 -c '
import json, sys
run = json.load(sys.stdin)
left, forecast = run["remaining"], run["forecast"]
assert (forecast["low_s"], forecast["total_s"], forecast["high_s"]) == (3000, 4000, 6000), forecast
past = 4000 - left["seconds"]
assert 0 < past < 110 and abs(left["low_s"] - 3000 + past) < 1e-6 and abs(left["high_s"] - 6000 + past) < 1e-6, left
' || _fail 'not the forecast minus what has passed'
ok orch show "$key"
has ', by the forecast'
forecast 0.0005 0.001 0.002
ok orch show "$key" --json
same "$(json remaining) $(json forecast.longer_than_forecast)" 'null true'
ok orch show "$key"
has 'longer than forecast: the forecast was '
kill %1
wait
# the live display says the same
echo 3 >"$SCRATCH/seconds"
ok terminal orch run q.recipe --force
has '  longer than forecast'
has_not 'by the forecast'
sed -i 's/^version: 1.0.0/version: 1.0.1/' quiet.plugin # nothing of that version has run
echo 3 >"$SCRATCH/seconds"
ok orch run q.recipe -q
echo 0.5 >"$SCRATCH/seconds"
ok terminal orch run q.recipe --force
has ' left by the forecast'
has_not 'longer than'
# which trials to measure so that the rest becomes known
cat >grid.recipe <<'R'
format: 1
recipe: grid
experiments:
  e: { plugin: sleep, sweep: { seconds: [0.05, 0.06, 0.07, 0.08, 0.4] }, repeat: 2 }
R
ok orch plan grid.recipe --most-informative 2
has 'e seconds=0.0'
has 'e seconds=0.4 #1'
has_not '#2'
says 'command that runs just these trials: orch run grid.recipe --most-informative 2'
ok orch plan grid.recipe --most-informative 2 --json
printf '%s' "$out" | python3 -c '
import json, sys
left = [c["uncertainty_left"] for c in json.load(sys.stdin)["most_informative"]]
assert len(left) == 2 and 1 > left[0] > left[1] >= 0, left
' || _fail 'the uncertainty does not fall'
ok orch run grid.recipe --most-informative 2
says '2 trials: 2 ok'
ok orch plan grid.recipe --json
same "$(json trials.0.forecast.tier)" fitted
same "$(json trials.9.forecast.tier)" measured "a repeat of a measured trial"
ok orch plan grid.recipe --most-informative 9
has_not 'seconds=0.4 '
has 'seconds=0.07 #1'
ok orch run grid.recipe -q
ok orch plan grid.recipe --most-informative 1
says 'has been measured'
for wrong in 0 -1 x 2.5 99999; do
    fails 2 orch plan grid.recipe --most-informative $wrong
    says --most-informative
done
# a plan stays quick
printf 'format: 1\nrecipe: p\nexperiments:\n  n: { plugin: sleep, sweep: { seconds: [%s] } }\n' "$(seq -s , 1 100)" >p.recipe
start=$(date +%s%N)
ok orch plan p.recipe
took=$((($(date +%s%N) - start) / 1000000))
[ $took -lt 10000 ] || _fail "a plan of 100 trials took $took ms"
