# 'orch compare --until-sure': two settings and two commits are run in turns until the verdict is sure; the same command
# goes on and finds the same; a repeat that fails counts on neither side; the budget and the number of runs hold.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
# noise of 1 % from the seed, the same on both sides but for a part of its own
cat >score.awk <<'P'
BEGIN {
    x = substr(seed, length(seed) - 5) + 54321
    for (i = 0; i < 24; i++) { x = x * 16807 % 2147483647; if (i > 11) shared += x / 2147483647 }
    x = x * (1000003 + 7919 * index("abcd", substr(kind, 1, 1))) % 2147483647
    for (i = 0; i < 24; i++) { x = x * 16807 % 2147483647; if (i > 11) own += x / 2147483647 }
    print "loss", (kind ~ /^b/ ? 1.03 : 1) * (1 + 0.05 * (shared - 6) + 0.01 * (own - 6))
    print "right", 1
    print "epoch_time", (kind ~ /^b/ ? 1.03 : 1) * (1 + 0.01 * (own - 6))
    odd = substr(seed, length(seed)) % 2
    if (kind == "crashes" && odd) exit 3
    if (kind == "ceases" && substr(seed, length(seed)) == 3) system("exec sleep 20")
    if (kind == "bad" && substr(seed, length(seed)) % 2) exit 3
}
P
cat >score.plugin <<'Y'
plugin: score
command: [awk, -v, "seed=${seed}", -v, "kind=${kind}", -f, score.awk]
parameters:
  kind: { type: string, default: a }
  after: { type: real, default: 0 }
metrics:
  loss: { better: min }
  epoch_time: { better: min, unit: s }
  right: { better: max }
  zero: { better: max }
Y
printf 'format: 1\nrecipe: s\nexperiments:\n  e: { plugin: ./score.plugin, reuse: any }\n' >s.recipe
git add -A
git commit -qm one

# a difference is found, with an interval that holds at any time, and says on the way what would decide
ok orch compare kind=a 'kind = b' --run s.recipe -m loss --until-sure --least 1% --price 3
has 'B is 2.9'
has 'higher and worse'
has ', sure'
has '95 % interval'
says 'would give a verdict with a probability of 80 %'
says '9 pairs, 18 runs, $'
says 'A: kind=a (settings of the work tree)'
says 'runs of'
says 'You may read them after every pair'
says_not 'paired t'
ok orch ls -n 0 --json
runs=$(json 'runs.#')
# the same command: the same verdict from the same runs, and none new
ok orch compare kind=a kind=b --run s.recipe -m loss --until-sure --least 1% --json
same "$(json verdict) $(json stopped)" 'different sure' 'the verdict'
same "$(json runs)" "$runs" 'all runs count'
same "$(json pairs_reused)" "$(json pairs)" 'pairs of earlier runs'
python3 -c "import sys; low, ratio, high, e = map(float, sys.argv[1:]); sys.exit(not (1 < low < 1.03 < high and 1.02 < ratio < 1.04 and e >= 20))" \
    "$(json low)" "$(json ratio)" "$(json high)" "$(json e_value)" || _fail 'not 3 %'
ok orch ls -n 0 --json
same "$(json 'runs.#')" "$runs" 'no new run'

# without a difference: none of 5 % or more
ok orch compare kind=a kind=c --run s.recipe -m loss --until-sure --json
same "$(json verdict) $(json stopped)" 'same sure' 'alike'
# equal values do not show how much the next one may differ
ok orch compare kind=a kind=c --run s.recipe -m right --until-sure --max-runs 9
has 'not sure yet'
says 'stopped at --max-runs: the difference was the same 9 times'
ok orch compare kind=a kind=c --run s.recipe -m right --until-sure --max-runs 9 --json
same "$(json verdict) $(json stopped) $(json pairs)" 'unknown max-runs 9' 'values that are all equal'
ok orch compare kind=a kind=c --run s.recipe -m right --until-sure
has 'no difference of 5 % or more, sure: the metric has no noise, as all differences are equal'
has ' 10 pairs '
# interrupted after two pairs (here by --max-runs) and continued: as in one go
ok orch compare kind=a kind=d --run s.recipe -m loss --until-sure --max-runs 2 --least 2%
says 'stopped at --max-runs'
says 'at least 10 pairs are needed'
has 'not sure yet'
ok orch compare kind=a kind=d --run s.recipe -m loss --until-sure --least 2% --json
continued=$(json low)/$(json high)/$(json pairs)/$(json verdict)
ok orch compare kind=a kind=d --run s.recipe -m loss --until-sure --least 2% --json
same "$(json low)/$(json high)/$(json pairs)/$(json verdict)" "$continued" 'the same result'

# a repeat that fails is left out on both sides, and stays out
orch compare kind=a kind=bad --run s.recipe -m loss --until-sure --max-runs 9 --least 0.5% --json >first 2>said
grep -q 'left out on both sides: e .* of B failed' said || _fail 'not said'
ok orch compare kind=a kind=bad --run s.recipe -m loss --until-sure --max-runs 9 --least 0.5% --json
says 'failed before'
same "$(json left_out) $(json pairs)" "$(python3 -c 'import json; o = json.load(open("first")); print(o["left_out"], o["pairs"])')" 'left out'
python3 -c 'import sys; sys.exit(not (0 < int(sys.argv[1]) and int(sys.argv[1]) + int(sys.argv[2]) == 9))' "$(json left_out)" "$(json pairs)" || _fail 'the sum'

# as many failures on one side may hide a difference: no difference is not sure then, though what is left is alike
ok orch compare kind=a kind=crashes --run s.recipe -m loss --until-sure --max-runs 50 --least 2%
has 'not sure yet'
says 'those that failed may hide a difference (B failed in '
says 'left out on both sides: B failed in '
ok orch compare kind=a kind=crashes --run s.recipe -m loss --until-sure --max-runs 50 --least 2% --json
same "$(json verdict) $(json stopped) $(json a.failed) $(json b.failed)" "unknown max-runs 0 $(json left_out)" 'failures of B'
[ "$(json left_out)" -gt 5 ] || _fail 'too few failures to tell'
# a time limit cuts off slow runs: one is enough
printf 'format: 1\nrecipe: u\nexperiments:\n  e: { plugin: ./score.plugin, reuse: any, timeout: 3s }\n' >u.recipe
git add -A
git commit -qm limit
ok orch compare kind=a kind=ceases --run u.recipe -m loss --until-sure --max-runs 14 --least 6%
says 'at the time limit)'
has 'not sure yet'
says 'may hide a difference'

# times: earlier runs of a repeat count only when they were made in turns
cat >t.recipe <<'R'
format: 1
recipe: t
experiments:
  e: { plugin: ./score.plugin, reuse: any }
R
git add -A
git commit -qm two
ok orch run t.recipe -s kind=e
ok orch compare kind=e kind=bb --run t.recipe -m epoch_time --until-sure --json
same "$(json verdict) $(json pairs_reused)" 'different 0' 'an earlier run of one side alone'
ok orch compare kind=e kind=bb --run t.recipe -m epoch_time --until-sure --json
same "$(json pairs_reused)" "$(json pairs)" 'pairs that were made in turns'

# a trial that the second run refers to lies between the two: they are made again, so that the runs give the same verdict later
cat >v.recipe <<'R'
format: 1
recipe: v
experiments:
  p: { plugin: ./wait.plugin, reuse: any }
  e: { plugin: ./score.plugin, reuse: any, with: { after: "${p.loss}" } }
R
printf 'plugin: wait\ncommand: [sh, -c, "sleep 6; echo loss 0", "${kind}"]\nparameters: { kind: { type: string, default: a } }\nmetrics: { loss: { better: min } }\n' >wait.plugin
git add -A
git commit -qm three
ok orch compare kind=a kind=b e --run v.recipe -m epoch_time --until-sure --max-runs 3 --json
pairs=$(json pairs)
ok orch compare kind=a kind=b e --run v.recipe -m epoch_time --until-sure --max-runs 3 --json
same "$(json pairs_reused)" "$pairs" 'pairs that were made again at once'

# two commits; the budget
sed -i 's/? 1.03 : 1/? 1.03 : 1.1/' score.awk
git commit -qam slower
ok orch compare HEAD~1..HEAD --run s.recipe -m loss --until-sure --json
same "$(json verdict) $(json a.what)" "different commit $(git rev-parse --short=8 HEAD~1)" 'commits'
ok orch compare HEAD~1..HEAD --run t.recipe -m loss --until-sure --price 3000 --budget 0.000001usd --json
same "$(json stopped) $(json spent_usd)" 'sure 0.0' 'what was run before costs nothing now'
fails 6 orch compare HEAD~1 HEAD --run t.recipe -s kind=c -m loss --until-sure --price 3000 --budget 0.005usd --json
same "$(json stopped) $(json verdict)" 'budget unknown' 'the budget'
[ "$(json pairs)" -lt 4 ] || _fail 'the budget was exceeded'

# nothing is left for the second run: a budget of 0 is not none
fails 6 orch compare HEAD~1 HEAD --run t.recipe -s kind=dd -m loss --until-sure --price 3000 --budget 0.00000001usd --json
same "$(json stopped) $(json pairs) $(json runs)" 'budget 0 0' 'a budget that one run spends'

# refused
fails 2 orch compare HEAD HEAD --run s.recipe -m loss --until-sure
says 'the same code with the same settings'
fails 2 orch compare kind=a kind=b -m loss --until-sure
says "needs '--run'"
fails 2 orch compare kind=a kind=b --run s.recipe --until-sure
says 'one metric'
fails 2 orch compare kind=a kind=b --run s.recipe -m loss --max-runs 3
says "option '--max-runs' needs '--until-sure'"
fails 2 orch compare kind=a kind=b --run s.recipe -m loss --until-sure --repeat 3
says "option '--until-sure' excludes '--repeat'"
fails 2 orch compare 'kind<a' kind=b --run s.recipe -m loss --until-sure
says 'is not of the form PARAMETER = VALUE'
fails 1 orch compare kind=a kind=b --run s.recipe -m zero --until-sure
says "no number 'zero'"
says 'none of the first 3 repeats could be compared'
fails 2 orch compare kind=a kind=b --run s.recipe -m loss --until-sure --budget 5usd
says 'price'
