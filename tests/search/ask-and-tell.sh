# A Python program that runs its trials itself: 'orch ask' chooses from the runs of its experiment; killed, it goes on; several at once differ.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
export PYTHONPATH="$SOURCE/share/python"
cat >study.py <<'P'
import os, sys
import orch
study = orch.study({"x": "uniform(0, 1)", "kind": ["a", "b"]}, "min loss", experiment="mine")
for n in range(int(sys.argv[1])):
    with study.trial(width=3) as t:
        t.log(loss=(t.x - 0.7)**2 + (t.kind == "a"))
        if len(sys.argv) > 2 and n == 1:
            os.kill(os.getpid(), 9)
first, second = study.trial(), study.trial()
print("same" if (first.x, first.kind) == (second.x, second.kind) else "differ")
P
fails 137 python3 study.py 5 killed
ok python3 study.py 12
has 'differ'
ok orch best loss --by kind --json -e mine
same "$(of_json 'it["rankings"][0]["settings"][0]["by"]["kind"]')" b 'the kind'
ok orch ask -x 'x=uniform(0, 1)' -x 'kind=choice(a, b)' --search 'min loss' -e mine
has 'kind='
fails 2 orch ask -x 'x=uniform(0, 1)' -e mine
says "'--search'"
fails 2 orch ask --search 'min loss' -e mine
says 'for example -x'
fails 2 orch ask -x 'x=uniform(0, 1)' --search 'min loss' -e mine --pending x=3
says "'--pending'"
# Names and values as typed: the search finds its own runs.
cat >names.py <<'P'
import orch
for exp, space in (("My Study", {"w": "uniform(1, 3)"}), ("exp/6", {"learning rate": "uniform(1, 3)"}), ("s", {"seed": "int(1, 999)"}),
                   ("b", {"x": "choice(1e-4, 1.0, 2e3)"}), ("c", {"x": [True, None, "a, b", 1.0, (1, 2), "3"]})):
    study, found = orch.study(space, "min loss", experiment=exp), []
    for _ in range(6 if exp == "c" else 3):
        with study.trial() as t:
            found.append(t.params[next(iter(space))])
            t.log(loss=1.0)
    print("all differ" if len(set(map(repr, found))) == len(found) else "the same again", found)
print("as typed" if set(map(repr, space["x"])) == set(map(repr, found)) else "other values")
P
ok python3 names.py
has_not 'the same again'
has 'as typed'
cat >refused.py <<'P'
import sys, orch
study = orch.study({"x": "uniform(0, 1)"}, "min los", experiment="typ")
for _ in range(int(sys.argv[1])):
    with study.trial(**({"x": 1} if len(sys.argv) > 2 else {})) as t: t.log(loss=t.x)
P
ok python3 refused.py 3
ok orch ask -x 'x=uniform(0, 1)' --search 'min los' -e typ
says "did you mean 'loss'?"
ok python3 refused.py 1
fails 1 python3 refused.py 4
says "no run of the search has a metric or result 'los'"
says "did you mean 'loss'?"
fails 1 python3 refused.py 1 x
says "the search chooses 'x' itself"
RANK=1 fails 1 python3 refused.py 1
says 'in the first process of a job'
# Two programs, one of them with threads, and a search: no point twice.
cat >two.py <<'P'
import sys, threading, time, orch
study = orch.study({"x": "uniform(0, 1)"}, "min loss", experiment="two", seed=7)
def work():
    for _ in range(3):
        with study.trial() as t:
            time.sleep(.2)
            t.log(loss=t.x)
threads = [threading.Thread(target=work) for _ in range(int(sys.argv[1]))]
[t.start() for t in threads]
[t.join() for t in threads]
P
python3 two.py 1 2>"$SCRATCH/one" &
ok python3 two.py 2
wait $! || { cat "$SCRATCH/one"; false; }
ok orch export -e two --format csv
same "$(printf '%s' "$out" | python3 -c 'import csv, sys; print(len({row["param.x"] for row in csv.DictReader(sys.stdin)}))')" 9 'different points'
