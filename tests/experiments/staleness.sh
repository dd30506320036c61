# The plugin staleness: the assignment's table in the report, the results of each mode, equal results for equal seeds,
# and contradictory parameters, which are refused before a run.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
cp -r "$SOURCE/recipes" .
ok orch run recipes/hw7.recipe staleness -q
ok orch report recipes/hw7.recipe --only 1
has 'mean_staleness = (0 + 0 + 2 + 1 + 0 + 2) / 6 = 0.833'
ok orch show @last
has 'g[L1,1], g[L1,2], g[L1,3], g[L1,4]: 0, 0, 1, 0'
has 'g[L2,1], g[L2,2]: 2, 2'
ok orch report recipes/hw7.recipe --only 1 --json
python3 - "$SCRATCH/out" <<'P' || _fail 'the table of updates'
import json, sys
section = json.load(open(sys.argv[1]))["sections"][0]
assert section["points"] == 6 and section["kind"] == "listing", section
names = ["time (s)", "gradient", "weights read at (s)", "version read", "version updated", "staleness", "updates in between"]
rows = [[str(row[name.replace(" ", "_")]) for name in names] for block in section["blocks"] for row in block.get("rows", [])]
want = ["1|g[L1,1]|0|0|0|0", "2|g[L1,2]|1|1|1|0", "2.5|g[L2,1]|0|0|2|2", "3|g[L1,3]|2|2|3|1",
        "4|g[L1,4]|3|4|4|0", "5|g[L2,2]|2.5|3|5|2"]
assert ["|".join(row[:6]) for row in rows] == want, rows
assert [row[6] for row in rows] == ["", "", "g[L1,1] g[L1,2]", "g[L2,1]", "", "g[L1,3] g[L1,4]"], rows
P
cat >s.recipe <<'R'
format: 1
recipe: s
experiments:
  modes: { plugin: staleness, with: { learners: 4, speeds: [1, 1, 2, 8], gradients: 4000, bound: 2, distribution: lognormal }, sweep: { mode: [asynchronous, synchronous, bounded] } }
  drawn: { plugin: staleness, with: { learners: 3, distribution: exponential, speed_variation: 1 }, repeat: 2 }
R
ok orch run s.recipe -q
ok orch export --format json
python3 - "$SCRATCH/out" <<'P' || _fail 'the modes'
import json, sys
runs = [r for r in json.load(open(sys.argv[1])) if r["experiment"] == "modes"]
by = {r["param.mode"]: {k[7:]: v for k, v in r.items() if k.startswith("result.")} for r in runs}
free, barrier, bounded = by["asynchronous"], by["synchronous"], by["bounded"]
assert abs(free["mean_staleness"] - 3) < 0.02 and free["updates"] == free["applied_gradients"] == 4000, free
assert barrier["mean_staleness"] == 0 and barrier["updates"] == 1000 and barrier["applied_gradients"] == 4000, barrier
assert bounded["max_lead"] == 2 and bounded["max_staleness"] <= 3 * 5 < free["max_staleness"], bounded
assert free["waiting_share"] == 0 < bounded["waiting_share"] < barrier["waiting_share"] < 1, by
assert free["gradients_per_s"] > bounded["gradients_per_s"] > barrier["gradients_per_s"], by
drawn = [r["result.end_time"] for r in json.load(open(sys.argv[1])) if r["experiment"] == "drawn"]
assert len(set(drawn)) == 2, drawn # another seed draws other times
P
_run orch plugin check staleness # its load time depends on the machine's load
for step in manifest check 'smoke run' 'equal seeds' 'declared names' cancel; do grep -Eq "^$step +ok" <<<"$out" || _fail "$step"; done
refused() {
    fails 2 orch run s.recipe "$1" "$2" "$3" "$4" "$5"
    says "$6"
}
refused modes -s learners=3 -s bound=2 "'speeds' has the values of 4 learners, but 'learners' is 3"
refused modes -s bound=-1 -s learners=4 'bound'
