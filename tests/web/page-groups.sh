# The page's groups and 'orch best' count runs by one rule: the newest run of each trial, averaged by seed.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
orch serve --help >/dev/null 2>&1 || skip "orch serve is not built here"
cat >fit.plugin <<'P'
plugin: fit
command: [sh, fit.sh, "${rate}"]
metrics_from: lines
parameters: { rate: { type: real, default: 1 } }
metrics: { loss: { better: min } }
P
cat >fit.recipe <<'R'
format: 1
recipe: fit
experiments:
  fit: { plugin: ./fit.plugin, sweep: { rate: [1, 2] }, repeat: 3 }
R
echo 'echo "loss=$1$ORCH_REPEAT"' >fit.sh
git add -A
git commit -qm first
ok orch run fit.recipe -q
echo 'echo "loss=$1.$ORCH_REPEAT"' >fit.sh # the code is edited: the same trials, other numbers
git commit -qam second
ok orch run fit.recipe -q
same "$(orch ls --json | python3 -c 'import json, sys; print(len(json.load(sys.stdin)["runs"]))')" 12 'runs:'
ok orch best loss --by rate --json
printf "%s" "$out" >best.json
orch serve --read-only --port 0 >served 2>serve.err &
server=$!
trap 'was=$?; kill "$server" 2>/dev/null; cleanup $was' EXIT
await -s served
python3 - "$(head -n 1 served)" <<'P' || _fail 'the groups of the page'
import json, sys, urllib.parse, urllib.request
def groups(**query):
    return json.load(urllib.request.urlopen(f"{sys.argv[1].rstrip('/')}/api/v1/groups?{urllib.parse.urlencode(query)}"))["groups"]
best = {s["by"]["rate"]: s for s in json.load(open("best.json"))["rankings"][0]["settings"]}
for order in ("up", "down"):
    by_rate = {g["by"][0]: g for g in groups(by="param.rate", values="loss", order=order)}
    for rate in (1, 2):
        g = by_rate[rate]
        assert g["runs"] == 6 and g["values"][0]["n"] == best[str(rate)]["n"] == 3, g
        assert all(abs(g["values"][0][k] - best[str(rate)][k]) < 1e-9 for k in ("mean", "low", "high")), (g, best)
# by the commit both stand
assert sorted((g["runs"], g["values"][0]["n"]) for g in groups(by="commit", values="loss")) == [(6, 3)] * 2
P
# so does a line of the table, which stands for all of its runs: three repeats, each run twice, are no six
cat >again.recipe <<'R'
format: 1
recipe: again
experiments:
  again: { plugin: ./fit.plugin, with: { rate: 5 }, repeat: 3 }
  many: { plugin: ./fit.plugin, with: { rate: 7 }, repeat: 120 }
R
ok orch run again.recipe -q
ok orch run again.recipe again --force -q
python3 - "$(head -n 1 served)" <<'P' || _fail 'the lines of the table'
import json, sys, urllib.parse, urllib.request
def line(experiment):
    query = urllib.parse.urlencode({"where": f"experiment = {experiment}", "columns": "key,loss", "whole": 1})
    rows = json.load(urllib.request.urlopen(f"{sys.argv[1].rstrip('/')}/api/v1/lines?{query}"))["rows"]
    assert len(rows) == 1, rows
    return rows[0]
twice, many = line("again"), line("many")
assert twice["is_repeats"] and len(twice["keys"]) == twice["runs"] == 6, twice
assert twice["texts"]["loss"].count("(") == 1 and "[" not in twice["texts"]["loss"], twice  # as of three
assert len(many["keys"]) == many["runs"] == 120, many
P
# a repeat that failed is counted, and what it printed before is no result; alone, its numbers are shown
cat >fit.sh <<'S'
echo "loss=$1.$ORCH_REPEAT"
[ "$ORCH_REPEAT" != 2 ] && [ "$1" != 9 ]
S
sed 's/recipe: again/recipe: failing/; s/rate: 5/rate: 8/; s/rate: 7/rate: 9/; s/repeat: 120/repeat: 2/' again.recipe >failing.recipe
fails 1 orch run failing.recipe -q --keep-going
python3 - "$(head -n 1 served)" <<'P' || _fail 'the groups with a run that failed'
import json, sys, urllib.parse, urllib.request
query = urllib.parse.urlencode({"where": "recipe = failing", "by": "param.rate", "values": "loss"})
groups = {g["by"][0]: g for g in json.load(urllib.request.urlopen(f"{sys.argv[1].rstrip('/')}/api/v1/groups?{query}"))["groups"]}
g = groups[8]
assert (g["runs"], g["failed"], g["values"][0]["n"]) == (3, 1, 2) and abs(g["values"][0]["mean"] - 8.2) < 1e-9, g
assert (groups[9]["failed"], groups[9]["values"][0]["n"]) == (2, 2), groups[9]
P
exit 0
