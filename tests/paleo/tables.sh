# The report items paleo_passes and paleo_hybrid: computed numbers equal those of 'orch paleo' and PALEO's published
# hours; runs add rows, computed with the peaks that they measured; also missing trials and bad input.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
cat >bench.plugin <<'Y'
command: [sh, bench.sh, "${peak}"]
parameters: { net: { type: string }, net_batch: { type: int, default: 4 }, classes: { type: int, default: 1000 }, peak: { type: bool, default: true } }
metrics:
  forward_sum: { unit: ms, better: min }
  backward_sum: { unit: ms, better: min }
  update_time: { unit: ms }
  batch_time: { unit: ms, better: min }
  peak_gflop_s: { unit: GFLOP/s }
  peak_gbyte_s: { unit: GB/s }
Y
# the peak and bandwidth of PALEO's K80, whose 480 GB/s are GiB/s in its formulas
cat >bench.sh <<'S'
echo '{"forward_sum": 2, "backward_sum": 5, "update_time": 1, "batch_time": 9}'
[ "$1" = false ] || echo '{"peak_gflop_s": 5600, "peak_gbyte_s": 515.39607552}'
S
recipe() { # ITEM
    cat >t.recipe <<R
format: 1
recipe: t
experiments:
  passes: { plugin: ./bench.plugin, sweep: { net: [alexnet-v2, lenet5] } }
  blind: { plugin: ./bench.plugin, with: { net: alexnet-v2, peak: false } }
report:
  - { title: T, $1 }
R
}
passes='nets: [alexnet-v2, vgg16 at 64], gpu: "paleo:TITAN_X", batch: 128, published: [alexnet-v2 forward 45.96 44.00, alexnet-v2 backward 118.44 -]'
recipe "paleo_passes: { $passes, experiments: [passes] }"
ok orch report t.recipe
has 'missing: 2 of 2 trials are not run'
has 45.96
ok orch run t.recipe -q
for what in 'alexnet-v2 128 TITAN_X' 'vgg16 64 TITAN_X' 'alexnet-v2 4 K80'; do
    set -- $what
    ok orch paleo --net "$1" --batch "$2" --gpu "paleo:$3" --ppp-comp 1 --json
    cp "$SCRATCH/out" "$1-$2.json"
done
ok orch report t.recipe --json
python3 - "$SCRATCH/out" <<'P' || _fail 'the table of passes'
import json, sys
section = json.load(open(sys.argv[1]))["sections"][0]
assert section["state"] == "complete", section["state"]
assert section["blocks"][0]["text"].startswith("The mean error of PALEO as computed here is "), section["blocks"][0]
table = [block["rows"] for block in section["blocks"] if "rows" in block][0]
near = lambda a, b: a is not None and abs(a - b) <= 1e-6 * abs(b)
def rows(net, batch, ppp=1):
    return {r["pass"]: r for r in table if r["network"] == net and int(r["batch"]) == batch}
for net, batch in (("alexnet-v2", 128), ("vgg16", 64), ("alexnet-v2", 4)):
    paleo = json.load(open("%s-%d.json" % (net, batch)))["steps"][0]
    found = rows(net, batch)
    for name, key in (("forward", "fwd_ms"), ("backward", "bwd_ms"), ("update", "update_ms")):
        assert near(found[name]["paleo_computed_ms"], paleo[key]), (net, batch, name, found[name], paleo[key])
    assert near(found["step"]["paleo_computed_ms"], paleo["fwd_ms"] + paleo["bwd_ms"] + paleo["update_ms"])
forward, backward = rows("alexnet-v2", 128)["forward"], rows("alexnet-v2", 128)["backward"]
assert forward["paleo_published_ms"] == 45.96 and forward["measured_ms"] == 44 and forward["measured_by"] == "published", forward
assert near(forward["error_published_percent"], 100 * 1.96 / 44), forward
assert backward["measured_ms"] is None and backward["error_computed_percent"] is None, backward
own = rows("alexnet-v2", 4)
assert [own[name]["measured_ms"] for name in ("forward", "backward", "update", "step")] == [2, 5, 1, 9], own
assert own["step"]["measured_by"].startswith("run "), own["step"]
assert near(own["step"]["error_computed_percent"], 100 * (own["step"]["paleo_computed_ms"] - 9) / 9), own["step"]
assert len(table) == 16, len(table)
P
# a run without a peak: its times alone
recipe "paleo_passes: { $passes, experiments: [blind] }"
ok orch run t.recipe blind -q
ok orch report t.recipe
has 'measured no peak of its device'
has "set 'peak: true'"

# PALEO's published hours, to their last digit; those of four and eight data-parallel workers by their published speedups
hybrid='net: alexnet-owt, split: [fc6, relu15, dropout16, fc7, relu18, dropout19], workers: [1, 2, 4, 8], link: pcie2, ppp: 0.46, ppp_comm: 0.75'
recipe "paleo_hybrid: { $hybrid, published: [hybrid 2 49.57 50.24, data 2 55.90 -] }"
ok orch report t.recipe --json
python3 - "$SCRATCH/out" <<'P' || _fail 'the table of hybrid parallelism'
import json, sys
section = json.load(open(sys.argv[1]))["sections"][0]
assert section["blocks"][0]["text"].startswith("Hybrid parallelism: 96.30 h with 1 worker and 14.37 h with 8, a speedup of 6.7"), section["blocks"][0]
table = [block["rows"] for block in section["blocks"] if "rows" in block][0]
hours = {(r["parallelism"], int(r["workers"])): r for r in table}
for key, published in {("hybrid", 1): 96.31, ("hybrid", 2): 49.57, ("hybrid", 4): 25.42, ("hybrid", 8): 14.37, ("data", 2): 55.90}.items():
    assert abs(hours[key]["paleo_computed_h"] - published) <= 0.01, (key, hours[key])
for key, published in {("hybrid", 2): 1.94, ("hybrid", 4): 3.79, ("hybrid", 8): 6.70, ("data", 2): 1.72, ("data", 4): 3.03, ("data", 8): 5.40}.items():
    assert abs(hours[key]["speedup_computed"] - published) <= 0.006, (key, hours[key])
row = hours["hybrid", 2]
assert row["measured_h"] == 50.24 and abs(row["error_published_percent"] - 100 * (49.57 - 50.24) / 50.24) < 1e-9, row
P
# the recipe of lecture 7 shows both without a run
mkdir lecture
cp "$SOURCE/recipes/lecture7.recipe" lecture
ok orch report lecture/lecture7.recipe paleo
has 49.57
has 118.4
has 'orch run lecture/lecture7.recipe'

# bad input: which row, and what it should be
for wrong in "alexnet-v2 sideways 1 2/is not a published row" "alexnet-v2 forward 1/is not a published row" "alexnet-v2 forward quick 2/'quick' in 'published: alexnet-v2 forward quick 2' is not a published figure"; do
    recipe "paleo_passes: { nets: [alexnet-v2], published: [${wrong%%/*}] }"
    ok orch report t.recipe
    has "${wrong#*/}"
done
recipe 'paleo_passes: { nets: [vgg61] }'
ok orch report t.recipe
has 'vgg61'
has_not 'forward'
recipe 'paleo_passes: { nets: [vgg16 at 0] }'
ok orch report t.recipe
has "'vgg16 at 0': the batch after 'at' is not from 1"
recipe 'paleo_passes: { nets: [vgg16], gpu: "paleo:K88" }'
ok orch report t.recipe
has 'K88'
recipe 'paleo_passes: { net: [vgg16] }'
fails 2 orch check t.recipe
says "'paleo_passes' needs 'nets'"
recipe "paleo_hybrid: { $hybrid, published: [hybrid 3 1 1] }"
ok orch report t.recipe
has "'published: hybrid 3 1 1' is not a published row"
recipe "paleo_hybrid: { net: alexnet-owt, split: [fc66], workers: [2] }"
ok orch report t.recipe
has "has no layer 'fc66'"
recipe "paleo_hybrid: { net: alexnet-owt, split: [fc6], workers: [3] }"
ok orch report t.recipe
has 'cannot be split among 3 workers'
recipe "paleo_hybrid: { net: alexnet-owt, workers: [2] }"
fails 2 orch check t.recipe
says "'paleo_hybrid' needs 'split'"
exit 0
