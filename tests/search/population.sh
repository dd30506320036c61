# Population-based training from Python: a trial begins from its parent's checkpoint, the worst goes on from the best; killed, it goes on; what is refused.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
export PYTHONPATH="$SOURCE/share/python"
# A training whose best rate falls with time: no single rate of the space ends as low as a schedule.
cat >pbt.py <<'P'
import json, os, sys
import sys, orch
study = orch.study({"lr": "loguniform(0.001, 1)"}, "min loss", experiment="pbt", population=4, seed=1)
for n in range(int(sys.argv[1])):
    with study.trial() as t:
        state = json.load(open(t.inherited["state"])) if t.inherited else {"steps": 0, "loss": 1.0, "rates": []}
        off = abs(t.lr - 0.5 * 0.7**state["steps"])
        state = {"steps": state["steps"] + 1, "loss": state["loss"] * min(0.6 + off, 1.1), "rates": state["rates"] + [t.lr]}
        t.log(loss=state["loss"])
        if len(sys.argv) > 2 and n == 5:
            os.kill(os.getpid(), 9)
        with open("state.json", "w") as file:
            json.dump(state, file)
        t.artifact("state", "state.json")
one, two = study.trial(), study.trial()
print("members", one.member, two.member)
P
fails 137 python3 pbt.py 16 killed
ok python3 pbt.py 15
has 'members 1 2'
cat >lineage.py <<'P'
import sys, orch
runs = [run for run in orch.runs(experiment="pbt") if run["loss"] is not None and run["state"] == "ok"]
by_key = {run["key"]: run for run in runs}
given_up = 0
for run in runs:
    parent = by_key.get(run.params.get("parent"))
    if parent:
        assert run["loss"] <= 1.1 * parent["loss"] + 1e-12, "not begun from what the parent left"
        given_up += parent.params["member"] != run.params["member"]
        if parent.params["member"] == run.params["member"] and run["lr"] != parent["lr"]:
            sys.exit("a member that was not given up has another rate")
members = sorted(run.params["member"] for run in runs)
print("runs", len(runs), "begun anew", sum("parent" not in run.params for run in runs), "from another", given_up > 0, members)
P
ok python3 lineage.py
has 'runs 20 begun anew 4 from another True [1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 4, 4, 4, 4, 4]'
ask() { orch ask -x 'lr=loguniform(0.001, 1)' --search 'min loss' -e "$1" --population 4 "${@:2}"; }
ok ask pbt
has 'member=1 parent='
fails 2 ask pbt --pending lr=0.1,member=1 --pending lr=0.1,member=2 --pending lr=0.1,member=3 --pending lr=0.1,member=4
says 'all 4 members of the population are running'
fails 2 ask pbt --population 3
says 'at least 4 members'
fails 2 ask pbt --sampler tpe
says "'--sampler'"
fails 2 ask pbt -x 'parent=int(1, 4)'
says "'member' and 'parent'"
cat >bare.py <<'P'
import sys, orch
study = orch.study({"lr": "loguniform(0.001, 1)"}, "min loss", experiment="bare", population=4)
for _ in range(5):
    with study.trial() as t:
        t.log(loss=t.lr)
P
fails 1 python3 bare.py
says 'has no artifact here from which the next trial could continue'
