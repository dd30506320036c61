# Runs of different tasks (experiment, program, data set, classes) share no line, cell or test: plot, table and compare
# follow the rule of 'best', and --across combines them.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
cat >first.py <<'P'
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float)
parser.add_argument("--dataset", default="mnist")
given = parser.parse_args()
print("acc", {"first": 0.5, "second": 0.1}[__file__.split("/")[-1][:-3]] + given.lr + 0.05 * (given.dataset == "cifar"))
if given.dataset == "cifar":
    print("class_count", 100)
P
cp first.py second.py
git add -A
git commit -qm programs
ok orch try -x lr=0.1,0.2 -- python3 first.py --lr '{lr}'
ok orch try -x lr=0.1,0.2 -- python3 second.py --lr '{lr}'
ok orch try -x lr=0.1,0.2 -x dataset=cifar -- python3 first.py --lr '{lr}' --dataset '{dataset}'
# the rule that the others keep
ok orch best acc --max --json
same "$(json rankings.#)" 3
ok orch best 'max acc, min wall_s' --json
same "$(of_json 'len({str(s["of"]) for s in it["settings"]}), sum(s["knee"] for s in it["settings"])')" '[3,3]'
ok orch best 'max acc, min wall_s'
has 'Pareto front of 2 settings'
has_not 'of 6'
says 'each of the 3 tasks has a ranking of its own'
ok orch best 'max acc, min wall_s' --across
has 'Pareto front of 6 settings'
# a series each, named in the legend; every point is one run
ok orch plot --y acc --x lr
says 'different tasks'
ok orch plot --y acc --x lr --json
printf '%s' "$out" | python3 -c '
import json, sys
series = {s["name"]: [p["y"] for p in s["points"]] for s in json.load(sys.stdin)["series"]}
assert len(series) == 3, series
for name, want in (("first dataset=-", [0.6, 0.7]), ("second dataset=-", [0.2, 0.3]), ("first dataset=cifar", [0.65, 0.75])):
    got = [v for s, v in series.items() if set(name.split()) <= set(s.split())]
    assert len(got) == 1 and all(abs(a - b) < 1e-9 for a, b in zip(got[0], want)), (name, series)' ||
    _fail 'series are not apart'
# with --by: what the user names stays, the task is added
ok orch plot --y acc --x step --by lr
has 'second, -'
has 'lr 0.2'
ok orch plot --y acc --x lr --by experiment,dataset,class_count
says_not 'different tasks'
# a heat map has panels instead
ok orch plot --kind heat --x lr --y experiment --z acc
has 'cifar'
ok orch plot --y acc --x lr --across --by plugin
has_not 'cifar'
says_not 'different tasks'
# one task: nothing is said
ok orch plot --y acc --x lr -w 'experiment = second'
says_not 'different tasks'
# a table: rows of their own
ok orch table --rows lr --value acc --format csv
same "$(tr -d '\r' <<<"$out")" 'experiment,dataset,class_count,lr,acc
first,-,-,0.1,0.6000
first,-,-,0.2,0.7000
first,cifar,100,0.1,0.6500
first,cifar,100,0.2,0.7500
second,-,-,0.1,0.2000
second,-,-,0.2,0.3000'
ok orch table --rows lr --value acc --across --format csv
same "$(sed -n '$=' <<<"$out")" 3
# compare: a block a task, both sides within it; no pair of runs of two tasks
ok orch compare lr=0.1 lr=0.2 -m acc --json
same "$(json metrics.#) $(json metrics.0.a.n) $(json metrics.1.a.n)" '3 1 1'
ok orch compare lr=0.1 lr=0.2 -m acc
has 'experiment second '
says 'compared one by one'
ok orch compare lr=0.1 lr=0.2 -m acc --across --json
same "$(json metrics.#) $(json metrics.0.a.n)" '1 3'
# what the user sets against each other is not taken apart
ok orch compare experiment=second 'dataset = cifar' -m acc --json
same "$(json metrics.#) $(json metrics.0.a.n)" '1 2'
# a task that one side lacks is left out, and that is said; a limit names its task
ok orch compare lr=0.1 'lr=0.2 and experiment=first' -m acc
says '1 run of side A left out: side B has no run of the same task'
fails 2 orch compare 'experiment=second or dataset=cifar' '@{4}' -m acc
says 'no task in common'
says '--across'
ok orch compare 'experiment=second or dataset=cifar' '@{4}' -m acc --across
ok orch compare lr=0.2 lr=0.1 --fail-on 'acc < -1%'
says 'so it is no failure (experiment second'
