#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The Python module with Matplotlib and pandas: figures and tables become artifacts, and runs can be read as a
# DataFrame.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
export PYTHONPATH=$SOURCE/share/python MPLCONFIGDIR=$SCRATCH/mpl MPLBACKEND=Agg
ran=
png() { [ "$(head -c 4 "$SCRATCH/out" | od -An -tx1 | tr -d ' ')" = 89504e47 ] || _fail "$1 is no PNG"; }
if python3 -c 'import matplotlib' 2>/dev/null; then
    cat >figures.py <<'P'
import orch
import matplotlib.pyplot as plt
run = orch.start(kind="figures")
figure, axes = plt.subplots()
axes.plot([1, 2, 3])
run.figure("fit", figure)       # a figure
run.figure("axes", axes)        # its axes
plt.figure(); plt.plot([3, 1])
run.figure("current")           # the current one
axes.plot([3, 2, 1])            # drawing goes on: what was kept stays
P
    ok python3 figures.py
    says_not 'not kept'
    ok orch ls --json
    key=$(json runs.0.key)
    for name in fit axes current; do
        ok orch show "$key" --artifact $name.png
        png $name
    done
    [ "$(orch show "$key" --artifact fit.png | cksum)" != "$(orch show "$key" --artifact current.png | cksum)" ] || _fail 'two figures are one'
    ran="$ran figures"
fi
if python3 -c 'import pandas' 2>/dev/null; then
    cat >tables.py <<'P'
import pandas
import orch
for lr in (0.1, 0.01):
    run = orch.start(lr=lr, kind="tables", note="a,b")
    run.table("scores", pandas.DataFrame({"epoch": [1, 2], "name": ['a "b"', "c,d"], "loss": [lr, None]}))
    run.table("rows", [{"a": 1, "b": 2}, {"a": 3}])
    run.log(loss=lr)
    run.end()
P
    ok python3 tables.py
    says_not 'not kept'
    ok orch ls --where 'lr = 0.01' --json
    key=$(json runs.0.key)
    ok orch show "$key" --artifact scores.csv
    printf '%s\n' "$out" >scores.csv
    cat >read.py <<'P'
import pandas
import orch
table = pandas.read_csv("scores.csv")
assert list(table.columns)[-3:] == ["epoch", "name", "loss"], table
assert list(table["name"]) == ['a "b"', "c,d"] and table["loss"][0] == 0.01, table
assert pandas.isna(table["loss"][1]), table
frame = orch.runs(where="kind = tables").to_pandas()
assert len(frame) == 2 and list(frame["param.lr"]) == [0.1, 0.01], frame
assert list(frame["state"]) == ["ok", "ok"] and list(frame["param.note"]) == ["a,b"] * 2, frame
assert frame.groupby("param.lr")["metric.loss"].mean()[0.1] == 0.1, frame
assert len(orch.runs(where="kind = nothing").to_pandas()) == 0
print("frame", len(frame.columns))
P
    ok python3 read.py
    has 'frame '
    ran="$ran tables"
fi
[ -n "$ran" ] || skip 'neither matplotlib nor pandas for this python3'
echo "ran:$ran"
exit 0
