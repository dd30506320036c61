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
