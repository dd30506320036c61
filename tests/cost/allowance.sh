#!/bin/bash
# The recipe key 'allowance' is read, shown, announced and enforced, for the group and for each person.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
recipe() { # ALLOWANCE
    cat >a.recipe <<R
format: 1
recipe: a
allowance: $1
experiments:
  nap:
    plugin: sleep
    sweep: { seconds: [0.05, 0.06, 0.07] }
R
}
bad() {
    recipe "$1"
    fails 2 orch check a.recipe
    says "$2"
    says 'a.recipe:3:'
}
bad '20' "'20' is not an amount above 0 with a unit"
bad '0 usd' 'not an amount above 0'
bad '-1 h' 'not an amount above 0'
bad 'nan usd' 'not an amount above 0'
bad '1e99 usd' 'not an amount above 0'
bad '5 eur' 'not an amount above 0'
bad '[1]' 'takes an amount or a map'
bad '{ usd: x }' "'usd'"
bad '{ hours: 0 }' "'hours'"
bad '{ per: person }' "neither 'usd' nor 'hours'"
bad '{ usd: 2, per: cat }' "'cat'"
bad '{ usd: 2, our: 3 }' "unknown key 'our'"
for good in '20 usd' 20USD '5 h' '0.5 hours' '{ usd: 20 }' '{ usd: 2.5, hours: 5, per: person }'; do
    recipe "$good"
    ok orch check a.recipe
done

# hours: enough, then not; nothing is started beyond
recipe '1 h'
ok orch cost a.recipe --json
same "$(json total.runs) $(json allowance.left_h)" '0 1.0' # before anything ran
[ ! -e .orch/results.db ] || _fail 'looking made a store'
ok orch run a.recipe
says 'allowance 1 h 0 min of device time for the group: used'
ok orch cost a.recipe
has 'allowance 1 h'
has 'no trials remain'
ok orch cost a.recipe --json
same "$(json allowance.hours) $(json allowance.per) $(json plan.trials) $(json plan.beyond_allowance)" '1.0 group 0 false'
recipe '{ hours: 0.00001 }' # 36 ms
fails 6 orch run a.recipe --force
says 'the plan exceeds'
says 'stopped by the allowance for the group: 3 trials not started'
fails 6 orch run a.recipe --force --json
same "$(json limits.stopped_by) $(json limits.held_back)" 'allowance 3'
ok orch plan a.recipe --force
says 'warning: the plan exceeds'
ok orch run a.recipe --force --over-allowance
says 'the plan exceeds'
ok orch cost a.recipe
has 'left -'
# nothing left to run: no fault
ok orch run a.recipe
# each person their own
recipe '{ hours: 0.0001, per: person }' # 360 ms, and tester has used it
fails 6 orch run a.recipe --force
says 'stopped by the allowance for each person'
ORCH_USER=bob ok orch run a.recipe --force
says 'for each person'
ORCH_USER=bob ok orch cost a.recipe --json
python3 -c '
import json, sys
a = json.load(sys.stdin)["allowance"]
assert 0 < a["used_h"] * 3600 < 0.36, a' <<<"$out" || _fail "bob's part is wrong"
# money: at no price nobody can watch it, and that is said; at a price it is kept
recipe '0.001 usd'
ok orch run a.recipe --force
says "allowance in dollars is not checked: this machine's price is not known"
fails 6 orch run a.recipe --force --price 3600
says 'stopped by the allowance'
ok orch cost a.recipe
has 'whose price is not known'
ok orch cost a.recipe --price cpu=3600 --json
python3 -c '
import json, sys
a = json.load(sys.stdin)["allowance"]
assert a["used_usd"] > 0.5 and a["left_usd"] < 0 and a["unpriced_h"] == 0, a' <<<"$out" || _fail 'the money is wrong'
# what the plan would add
sed 's/0.07\]/0.07, 0.2]/' a.recipe >b.recipe
ok orch cost b.recipe --json --price cpu=3600
python3 -c '
import json, sys
p = json.load(sys.stdin)["plan"]
assert p["trials"] + p["unknown"] == 1 and p["beyond_allowance"], p' <<<"$out" || _fail 'the outlook is wrong'
ok orch cost b.recipe --gpu T4
has 'on T4'
# smoke runs have no part in it
ok orch run a.recipe --smoke
says_not allowance
