# The page and the report of a search name the same importance of each parameter, also with conditions, repeats, and points without a
# value; the page's surface leaves out runs in which a parameter does not exist.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
orch serve --help >/dev/null 2>&1 || skip "orch serve is not built here"
cat >fit.py <<'P'
import os, sys
lr, opt, momentum, depth, repeat = float(sys.argv[1]), sys.argv[2], float(sys.argv[3]), int(sys.argv[4]), int(os.environ['ORCH_REPEAT'])
if lr > 0.9 and repeat == 2:
    sys.exit('diverged')
print(f"loss {(lr - 0.3) ** 2 + (0.2 * (momentum - 0.5) ** 2 if opt == 'sgd' else 0.1) + 0.01 * depth + 0.001 * repeat}")
P
cat >fit.plugin <<'P'
plugin: fit
version: 1.0.0
about: a loss
metrics_from: lines
command: [python3, fit.py, '${lr}', '${opt}', '${momentum}', '${depth}']
parameters:
  lr: { type: real, default: 0.1 }
  opt: { type: string, default: sgd }
  momentum: { type: real, default: 0.9 }
  depth: { type: int, default: 1 }
metrics:
  loss: { better: min }
P
cat >fit.recipe <<'R'
format: 1
recipe: fit
experiments:
  tune:
    plugin: fit
    search:
      opt: [sgd, adam]
      lr: uniform(0, 1)
      momentum: uniform(0, 0.99) if opt = sgd
      depth: int(1, 3)
    objective: { metric: min loss, trials: 24, sampler: sobol }
    repeat: 2
report:
  - { title: Search, search: { experiments: tune } }
R
git add .
git commit -qm fit
_run orch run fit.recipe -q --keep-going -j 2
[ "$status" = 1 ] || _fail 'some repeats fail'
ok orch report fit.recipe --json
printf '%s' "$out" >report.json
# runs that are no points of this search, and are in the same lists
ok orch try -q -x lr=0.1,0.2 --name other -- sh -c 'echo loss={lr}'
orch serve --read-only --port 0 >served 2>serve.err &
server=$!
trap 'was=$?; kill "$server" 2>/dev/null; cleanup $was' EXIT
await -s served
python3 - "$(head -n 1 served)" <<'P' || _fail 'the importance on page and report'
import json, sys, urllib.parse, urllib.request
def ask(what, **query):
    return json.load(urllib.request.urlopen(f"{sys.argv[1].rstrip('/')}/api/v1/{what}?{urllib.parse.urlencode(query)}"))
section, = [s for s in json.load(open("report.json"))["sections"] if s["kind"] == "search"]
tables = [b["rows"] for b in section["blocks"] if b["kind"] == "table"]
points, report = tables[0][0], {r["parameter"]: r for r in tables[1]}
assert points["failed"] >= 1, points
page = ask("importance", number="loss", where="experiment = tune")
assert page["points"] == points["ended"] and page["runs"] == 2 * points["ended"] + points["failed"], (page, points)
assert {p["name"] for p in page["params"]} == set(report) == {"lr", "opt", "momentum", "depth"}, page
for p in page["params"]:
    of = report[p["name"]]
    assert abs(p["share"] - of["importance"]) < 1e-5 and abs(p["whole"] - of["over_the_whole_range"]) < 1e-5, (p, of)
    assert of["95_%_interval"] == f"{round(100 * p['low']) + 0} to {round(100 * p['high']) + 0} %", (p, of)
assert max(page["params"], key=lambda p: p["whole"])["name"] == "lr", page
# momentum has its default under adam, where it does not exist
runs = ask("runs", where="experiment = tune and state = ok", columns="param.opt,setting", limit=1000)["rows"]
sgd = sum(r[0] == "sgd" for r in runs)
assert 6 <= sgd < len(runs), (sgd, len(runs))
surface = ask("surface", number="loss", x="lr", y="momentum", where="experiment = tune")
assert surface["runs"] == sgd and surface["y"]["is_conditional"] and not surface["x"]["is_conditional"], surface
assert surface["y"]["high"] <= 0.99 and all(("momentum" in json.loads(r[1])) == (r[0] == "sgd") for r in runs)
assert ask("surface", number="loss", x="lr", y="depth", where="experiment = tune")["runs"] == len(runs)
P
