# show, ls, export and the page's API use the same names and values for the fields of a run.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
cat >talk.sh <<'P'
printf '{"metric": "loss", "value": %s, "step": 0}\n' "$1"
P
cat >talk.plugin <<'P'
plugin: talk
command: [sh, talk.sh, "${lr}"]
metrics_from: lines
parameters: { lr: { type: real, default: 0.5 } }
metrics: { loss: { better: min } }
P
cat >talk.recipe <<'R'
format: 1
recipe: talk
experiments: { talk: { plugin: ./talk.plugin, sweep: { lr: [0.1, 0.2] } } }
R
git add -A
git commit -qm first
ok orch run talk.recipe -q
ok orch tag @last good
orch show @last --json >show.json || _fail 'show'
same "$("$BUILD/json_get" swhid <show.json)" "swh:1:dir:$(git rev-parse 'HEAD^{tree}')"
orch ls --json >ls.json || _fail 'ls'
orch export --format json >export.json || _fail 'export'
orch export --format json --columns "$(python3 -c '
import re, sys
print(",".join(re.findall(r"^\| `(\w+)` \| [^|]+ \|$", open(sys.argv[1]).read(), re.M)))' "$SOURCE/docs/run-fields.md")" >all.json || _fail 'export of every documented field'
echo null >page.json
if orch serve --help >/dev/null 2>&1; then
    orch serve --read-only --port 0 >served 2>serve.err &
    server=$!
    trap 'was=$?; kill "$server" 2>/dev/null; cleanup $was' EXIT
    await -s served
    base=$(head -n 1 served)
    python3 - "${base%/}" >page.json <<'P' || _fail 'the page'
import json, sys, urllib.request
key = json.load(open("show.json"))["key"]
print(urllib.request.urlopen(f"{sys.argv[1]}/api/v1/runs/{key}").read().decode())
P
fi
python3 - <<'P' || _fail 'the fields of a run'
import json
show, page = json.load(open("show.json")), json.load(open("page.json"))
def of(rows):
    return [r for r in rows if r["key"] == show["key"]][0]
listed, exported, every = of(json.load(open("ls.json"))["runs"]), of(json.load(open("export.json"))), of(json.load(open("all.json")))
def same(what, other, besides):
    for name, value in other.items():
        if name in besides or name.startswith(("param.", "metric.", "result.", "best.")):
            continue
        assert name in show, f"{what} has '{name}', which 'orch show --json' has not"
        close = isinstance(value, float) and abs(show[name] - value) < 1e-12 * max(1, abs(value))
        assert close or show[name] == value, (what, name, value, show[name])
same("orch ls", listed, ())
same("orch export", exported, ())
same("orch export --columns", every, ())
assert len(every) > 30
if page:
    same("the page", page, ("metrics", "forecast"))
    assert set(show) - set(page) == {"signatures", "schema_version", "system", "left"} and set(page) - set(show) == {"forecast"}, set(show) ^ set(page)
assert show["removed"] is False and show["results"] == {} and show["tags"] == ["good"] and show["params"]["lr"] == 0.2, show
# what a run has beside its fields is all that is not documented as one
extra = set(show) - set(every)
assert extra == {"name", "tags", "notes", "removal", "params", "results", "units", "metrics", "system", "left", "artifacts", "inputs",
                 "signatures", "schema_version"}, extra
P
