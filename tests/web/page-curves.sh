# The curves of the page: bands over repeats follow the rule of tables, and the most important metric comes first.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
orch serve --help >/dev/null 2>&1 || skip "orch serve is not built here"
cat >fit.py <<'P'
import json, os, random, sys
random.seed(int(sys.argv[1]))
events = os.fdopen(int(os.environ["ORCH_EVENTS"]), "w")
for i in range(40):
    for name, value in (("epoch_time", 1 + random.random()), ("accuracy", min(1, .9 + .01 * i / 4 * random.random())), ("extra", i)):
        events.write(json.dumps({"event": "metric", "name": name, "step": i, "value": value}) + "\n")
events.write(json.dumps({"event": "done", "status": "ok"}) + "\n")
P
cat >fit.plugin <<'P'
plugin: fit
command: [python3, fit.py, "${seed}"]
metrics_from: protocol
parameters: { way: { type: string, default: plain } }
metrics: { accuracy: { better: max, step: epoch }, epoch_time: { better: min, step: epoch, unit: s }, extra: { better: none, step: epoch } }
P
cat >fit.recipe <<'R'
format: 1
recipe: fit
experiments:
  many: { plugin: ./fit.plugin, with: { way: many }, repeat: 6 }
  few: { plugin: ./fit.plugin, with: { way: few }, repeat: 3 }
report:
  - { title: Time, table: { rows: way, value: mean epoch_time } }
  - { title: Extra, plot: { x: epoch, y: [extra, accuracy] } }
R
git add -A
git commit -qm first
ok orch run fit.recipe -q
orch serve --read-only --port 0 >served 2>serve.err &
server=$!
trap 'was=$?; kill "$server" 2>/dev/null; cleanup $was' EXIT
await -s served
base=$(head -n 1 served)
[ -n "$base" ] || _fail "the server did not start: $(cat serve.err)"
python3 - "${base%/}" <<'P' || _fail 'bands and the order of metrics'
import json, sys, urllib.error, urllib.parse, urllib.request
def get(path, **query):
    return json.load(urllib.request.urlopen(f"{sys.argv[1]}/api/v1/{path}?{urllib.parse.urlencode(query)}"))
def keys(way):
    return [r[0] for r in get("runs", where=f"way = {way}", columns="key")["rows"]]
def series(key):
    return get(f"runs/{key}/series", metric="accuracy")["value"]
many, few = keys("many"), keys("few")
# six runs: the interval of the mean, which stays below 1; the runs themselves beside it
a = get("band", runs=",".join(many), metric="accuracy")
assert a["step"] == list(range(40)) and a["width"] == 1 and set(a["form"]) <= {"interval", None}, a["form"]
runs = {r["key"]: r["value"] for r in a["runs"]}
assert all(abs(x - y) < 1e-7 for k in many for x, y in zip(runs[k], series(k)))
for i, (low, mid, high) in enumerate(zip(a["low"], a["centre"], a["high"])):
    values = [runs[k][i] for k in many]
    assert abs(mid - sum(values) / 6) < 1e-7
    assert low is None or low <= mid <= high <= 1, (i, low, mid, high)
assert sum(h - l > 1e-4 for l, h in zip(a["low"], a["high"]) if l is not None) > 30
# three: no interval, but the lowest and the highest run
b = get("band", runs=",".join(few), metric="accuracy")
assert set(b["form"]) == {"runs"}, b["form"]
assert all(abs(l - min(v)) < 1e-7 and abs(h - max(v)) < 1e-7 for l, h, *v in zip(b["low"], b["high"], *(r["value"] for r in b["runs"])))
# more steps than buckets: neighbours are one point, a run with the mean of its points
c = get("band", runs=",".join(few), metric="accuracy", buckets=10)
assert (c["width"], len(c["step"])) == (4, 10), c
assert abs(c["runs"][0]["value"][1] - sum(series(few[0])[4:8]) / 4) < 1e-7
d = get("band", runs=few[0], metric="accuracy", **{"from": 5, "to": 7})
assert d["step"] == [5, 6, 7] and d["low"] == [None] * 3
for query, status in (({"metric": "accuracy"}, 400), ({"runs": few[0]}, 400), ({"runs": few[0], "metric": "nothing"}, 404), ({"runs": "ffffffff", "metric": "x"}, 404), ({"runs": ",".join(many * 4), "metric": "accuracy"}, 400)):
    try: get("band", **query); sys.exit(f"{query} is answered")
    except urllib.error.HTTPError as e: assert e.code == status, (query, e.code)
# what the report plots comes before what it tabulates, and a time comes last unless it is asked for
names = sorted((n for n in get("names")["names"] if n["kind"] == "metric"), key=lambda n: n["rank"])
assert [n["name"] for n in names] == ["extra", "accuracy", "epoch_time"], names
run = get(f"runs/{few[0]}")
assert min(run["metrics"], key=lambda m: m["rank"])["name"] == "extra", run["metrics"]
assert min(get(f"runs/{few[0]}/metrics")["metrics"], key=lambda m: m["rank"])["name"] == "extra"
P
kill "$server"
wait "$server"
# without a report: what a plugin calls better, and no time first
sed -i '/^report:/,$d; s/recipe: fit/recipe: bare/' fit.recipe
rm -rf .orch
ok orch run fit.recipe few -q
rm served
orch serve --read-only --port 0 >served 2>serve.err &
server=$!
await -s served
python3 - "$(head -n 1 served)" <<'P' || _fail 'the order of metrics without a report'
import json, sys, urllib.request
names = json.load(urllib.request.urlopen(sys.argv[1].rstrip("/") + "/api/v1/names"))["names"]
assert [n["name"] for n in sorted((n for n in names if n["kind"] == "metric"), key=lambda n: n["rank"])] == ["accuracy", "extra", "epoch_time"], names
P
exit 0
