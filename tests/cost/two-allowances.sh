# An allowance of the group and one of each person apply at the same time: both are shown, both count the trials in
# progress, and the message of a stopped command names the one with less left. With stand-ins for Slurm's programs.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
. "$SOURCE/tests/cli/slurm.sh"
recipe() { # ALLOWANCE
    cat >a.recipe <<R
format: 1
recipe: a
allowance: $1
slurm: { partition: p }
experiments:
  nap: { plugin: sleep, with: { seconds: 0.1 }, repeat: ${2:-3} }
R
}
bad() {
    recipe "$1"
    fails 2 orch check a.recipe
    says "$2"
    says 'a.recipe:3:'
}
bad '{ group: 20 usd, hours: 5 }' "write each amount under 'group' or 'person'"
bad '{ person: 20 usd, per: person }' "write each amount under 'group' or 'person'"
bad '{ group: [1] }' "'group' takes an amount or a map"
bad '{ person: 20 }' "'20' is not an amount above 0 with a unit"
bad '{ group: {} }' "neither 'usd' nor 'hours'"
bad '{ group: { usd: 2, per: person } }' "unknown key 'per'"
for good in '{ group: 20 usd }' '{ person: { usd: 2, hours: 1 } }' '{ group: 20 usd, person: 5 h }'; do
    recipe "$good"
    ok orch check a.recipe
done

# bob's runs use up the group's allowance and his own, but not that of somebody else
recipe '{ group: 1 h, person: 1 h }'
ORCH_USER=bob ok orch run a.recipe
says 'allowance 1 h 0 min of device time for the group: used'
says 'allowance 1 h 0 min of device time for each person: used'
recipe '{ group: 0.00001 h, person: 1 h }'
fails 6 orch run a.recipe --force
says 'stopped by the allowance for the group: 3 trials not started'
recipe '{ group: 1 h, person: 0.00001 h }'
ORCH_USER=bob fails 6 orch run a.recipe --force
says 'stopped by the allowance for each person: 3 trials not started'
ORCH_USER=bob ok orch cost a.recipe --json
same "$(json allowance.per) $(json allowances.0.per) $(json allowances.1.per)" 'person group person'
ok orch cost a.recipe --json
same "$(json allowances.1.used_h)" 0.0 'hours of somebody else'
# both are used up: nothing is started, whoever asks
recipe '{ group: 0.00001 h, person: 0.00001 h }'
ORCH_USER=bob fails 6 orch run a.recipe --force
says 'stopped by the allowance for'

# jobs of a cluster that wait: those of bob count for the group and for him
recipe '{ group: 1 h, person: 1 h }'
ORCH_USER=bob ok orch run a.recipe --executor slurm --force
play 101
minute
ok orch collect
recipe '{ group: 1 h, person: 1 h }' 6
ORCH_USER=bob ok orch run a.recipe --executor slurm --force
ok orch cost a.recipe --json
same "$(json allowances.0.running) $(json allowances.1.running)" '6 0' 'trials in progress'
ORCH_USER=bob ok orch cost a.recipe --json
same "$(json allowances.0.running) $(json allowances.1.running)" '6 6' 'trials in progress'
# limits that only the trials in progress exceed: by half of what these are expected to take
halves=$(python3 -c '
import json, sys
for a in json.load(sys.stdin)["allowances"]:
    assert a["reserved_h"] > 0, a
    print("%.12f" % (a["used_h"] + a["reserved_h"] / 2))' <<<"$out") || _fail 'nothing is reserved'
read -r -d '' group person <<<"$halves"
recipe "{ group: { hours: $group }, person: 1 h }" 7
ORCH_USER=bob fails 6 orch run a.recipe --executor slurm
says 'held back: by the forecasts, the allowance for the group would be exceeded'
recipe "{ group: 1 h, person: { hours: $person } }" 7
ORCH_USER=bob fails 6 orch run a.recipe --executor slurm
says 'held back: by the forecasts, the allowance for each person would be exceeded'
ok orch run a.recipe
says 'for each person'
