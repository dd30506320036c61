#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Files that trials in Slurm jobs read are recorded on the node, kept with their runs and compared by the next plan.
# With stand-ins for Slurm's programs.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
. "$(dirname "$0")/slurm.sh"
[ -e "$BUILD/orch-watch.so" ] || skip 'no orch-watch.so'
mkdir data conf
printf 'data/\nout.txt\n' >.gitignore
echo 1 >data/1.csv
echo 2 >data/2.csv
echo 3 >conf/extra.txt
printf 'plugin: unit\ncommand: [python3, a.py, "${n}"]\nmetrics_from: lines\nparameters: { n: { type: int, default: 1 } }\nmetrics: { value: {} }\n' >unit.plugin
cat >a.py <<'P'
import importlib, sys
mod = importlib.import_module("hel" + "per")
print("value", float(open("data/%d.csv" % int(sys.argv[1])).read()) + mod.more("conf" + "/extra.txt"))
open("out" + ".txt", "w").write("x")
P
printf 'def more(name):\n    return float(open(name).read())\n' >helper.py
printf 'format: 1\nrecipe: r\nslurm: { partition: p }\nexperiments:\n  u: { plugin: ./unit.plugin, sweep: { n: [1, 2] } }\n' >r.recipe
git add -A
git commit -qm one
job() { ls "$CLUSTER/jobs" | sort -n | tail -n 1; }
submit() {
    ok orch run r.recipe --executor slurm
    play "$(job)"
    minute
    ok orch collect
}
submit
ok orch ls --json
same "$(json runs.#) $(json runs.0.state) $(json runs.1.state)" '2 ok ok'
for i in 0 1; do
    ok orch ls --json
    n=$(json runs.$i.setting.n)
    ok orch show "$(json runs.$i.key)"
    has "data/$n.csv"
    has conf/extra.txt
    has helper.py
    has_not 'what it read was not noted'
done
ok orch plan r.recipe
has_not stale
echo 7 >data/2.csv
ok orch plan r.recipe
has 'data/2.csv, which this run read, has changed since'
has_not 'data/1.csv'
echo 2 >data/2.csv
ok orch plan r.recipe
has_not stale
echo '# a comment' >>helper.py
ok orch plan r.recipe
has 'only comments changed since'
has_not stale
echo 4 >conf/extra.txt
ok orch plan r.recipe
has 'conf/extra.txt, which this run read, has changed since'
submit
ok orch plan r.recipe
has_not stale
ok orch ls -n 0 --json
same "$(json runs.#)" 4
exit 0
