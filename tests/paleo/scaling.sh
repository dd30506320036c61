# The report item paleo_scaling: forecasts equal those of 'orch paleo', time and cost follow from the throughput of
# every series, errors refer to the measured throughput; also parts, missing trials and bad input.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
cat >rate.plugin <<'Y'
command: [sh, rate.sh, "${workers}"]
parameters: { workers: { type: int } }
metrics: { throughput: { unit: images/s, better: max } }
Y
printf '%s\n' 'case $1 in 1) r=80 ;; 2) r=200 ;; *) r=250 ;; esac; echo "{\"throughput\": $r}"' >rate.sh
recipe() { # ITEM-KEYS
    cat >t.recipe <<R
format: 1
recipe: t
experiments:
  real: { plugin: ./rate.plugin, sweep: { workers: [1, 2] } }
  sim: { plugin: ./rate.plugin, sweep: { workers: [1, 2, 4] } }
report:
  - { title: T, paleo_scaling: { $1 } }
R
}
common='net: inception_v3, workers: [1, 2, 4], batch: 128, gpu: "paleo:K80", link: pcie3, ppp: 0.62, ppp_comm: 0.72, images: 50000, price: 0.9'
recipe "$common, experiments: [real], simulated: [sim]"
ok orch report t.recipe
has 'missing: 2 of 2 trials are not run'
has 'missing: 3 of 3 trials are not run'
has_not 'measured: throughput' # no column and no table of dashes
has_not 'error (%)'
ok orch run t.recipe -q
ok orch paleo --net inception_v3 --gpu paleo:K80 --workers 1,2,4 --batch 128 --scaling strong --network pcie3 --ppp-comp 0.62 --ppp-comm 0.72 --scheme TreeAllReduce --json
cp "$SCRATCH/out" paleo.json
ok orch report t.recipe --json
python3 - "$SCRATCH/out" paleo.json <<'P' || _fail 'charts, tables and errors'
import json, math, sys
section = json.load(open(sys.argv[1]))["sections"][0]
paleo = [row["images_per_s"] for row in json.load(open(sys.argv[2]))["steps"]]
tables = [block["rows"] for block in section["blocks"] if "rows" in block]
charts = [block for block in section["blocks"] if "chart" in block]
assert section["state"] == "complete", section["state"]
assert len(tables) == 4 and len(charts) == 3, (len(tables), len(charts))
near = lambda a, b: a is not None and abs(a - b) <= 1e-6 * abs(b)
def value(row, word):
    return next(v for k, v in row.items() if word in k)
rates = {"predicted": paleo, "measured": [80, 200, None], "simulated": [80, 200, 250]}
laws = [lambda n, r: r, lambda n, r: 50000 / r, lambda n, r: 50000 / r / 3600 * n * 0.9]
for table, law in zip(tables, laws):
    assert [row["workers"] for row in table] == [1, 2, 4], table
    for i, row in enumerate(table):
        for name, rate in rates.items():
            found = value(row, name)
            assert (found is None) if rate[i] is None else near(found, law(row["workers"], rate[i])), (name, row)
for i, row in enumerate(tables[3][:2]):
    measured = rates["measured"][i]
    assert near(value(row, "paleo"), 100 * (paleo[i] - measured) / measured), row
    assert value(row, "simgrid") == 0, row
assert value(tables[3][2], "paleo") is None
P
recipe "$common, simulated: [sim]"
ok orch report t.recipe
has 'simulated (SimGrid)'
has_not 'measured: '
has_not 'error (%)'
has 'no machine ran these trainings'
has 'by PALEO for PALEO'"'"'s device K80 (5600 GFLOP/s'
# one GPU of the board, as orch and the simulation have it, and what PALEO's table calls by that name
recipe "${common/paleo:K80/K80}, experiments: [real], simulated: [sim]"
ok orch report t.recipe
has 'by PALEO for one K80 (4368 GFLOP/s'
has "PALEO's repository states 5600 GFLOP/s"
printf '%s\n' "$out" | grep -Eq '^  PALEO predicts [0-9.]+ times the measured throughput with 1 worker, and [0-9.]+ times with 2\. ' || _fail 'no comparison'
same "$(grep -c 'simulated: \[simulated_inception\]' "$SOURCE/recipes/hw4.recipe")" "$(grep -c 'paleo_scaling: .*inception_v3.*gpu: K80' "$SOURCE/recipes/hw4.recipe")" 'items whose two forecasts are of one K80'
recipe "$common, show: errors, experiments: [real], simulated: [sim]"
ok orch report t.recipe
has 'error of the throughput (%)'
has_not 'time of an epoch (s)'
recipe "$common, show: charts, experiments: [real], simulated: [sim]"
ok orch report t.recipe
has 'time of an epoch (s)'
has_not 'error (%)'
recipe "$common, scheme: TreeReduce, simulated: [sim]"
ok orch report t.recipe
has "TreeReduce"
has_not 'images/s'
recipe "$common, scaling: both, simulated: [sim]"
ok orch report t.recipe
has "unknown scaling 'both'"
recipe "$common, simulated: [other]"
fails 2 orch check t.recipe
says "unknown experiment 'other' in the report"
says 'at: t.recipe:7'
recipe "$common"
fails 2 orch check t.recipe
says "'paleo_scaling' needs 'simulated'"
exit 0
