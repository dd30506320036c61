# The page's JSON interface: pictures and files, curves and bands, requests that are refused with a reason, and the
# events of a running trial.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
orch serve --help >/dev/null 2>&1 || skip "orch serve is not built here"
cat >work.py <<'P'
import json, os, sys, time
out = os.fdopen(int(os.environ["ORCH_EVENTS"]), "w", buffering=1)
def tell(**event): out.write(json.dumps(event) + "\n")
kind = sys.argv[1]
if kind == "files":
    for name, start in (("picture", b"\x89PNG\r\n\x1a\n"), ("photo", b"\xff\xd8\xff\xe0"), ("page", b"<script>"), ("large", b"l"), ("lost", b"gone")):
        with open(name, "wb") as file:
            file.write(start + name.encode())
        tell(event="artifact", name=name, path=name)
tell(event="phase", name="working")
tell(event="note", text="alert: m00 > 3 (m00 4 at step 1)")
for i in range(40):
    tell(event="metrics", points=[["loss", i, None, 1 / (i + 1) if i != 7 else "NaN"]] + [["m%02d" % k, i, None, k] for k in range(70 if kind == "slow" else 0)])
    tell(event="progress", done=i + 1, total=40)
    time.sleep(0.05 if kind == "slow" else 0)
tell(event="done", status="ok")
P
cat >work.plugin <<'Y'
plugin: work
command: [python3, work.py, "${kind}"]
metrics_from: protocol
parameters: { kind: { type: string } }
metrics: any
artifacts: { picture: {}, photo: {}, page: {}, large: {}, lost: {} }
Y
printf 'format: 1\nrecipe: w\nexperiments: { w: { plugin: ./work.plugin, sweep: { kind: [plain, files] } }, slow: { plugin: ./work.plugin, with: { kind: slow } } }\n' >w.recipe
git add -A
git commit -qm first
ok orch run w.recipe w -q
object() {
    ok orch show "$files" --json
    local sha
    sha=$(python3 -c 'import json, sys; print(next(a["sha256"] for a in json.load(sys.stdin)["artifacts"] if a["name"] == sys.argv[1]))' "$1" <<<"$out")
    echo ".orch/results.db.d/objects/${sha:0:2}/${sha:2}"
}
ok orch ls --where 'kind=files' --json
files=$(json runs.0.key)
ok orch ls --where 'kind=plain' --json
plain=$(json runs.0.key)
large=$(object large)
[ -f "$large" ] || large=.orch/objects/${large#*objects/}
[ -f "$large" ] || _fail "no object $large"
chmod u+w "$large"
truncate -s 33M "$large"
lost=$(object lost)
[ -f "$lost" ] || lost=.orch/objects/${lost#*objects/}
rm -f "$lost"
orch serve --read-only --port 0 >served 2>serve.err &
server=$!
trap 'was=$?; kill "$server" 2>/dev/null; cleanup $was' EXIT
await -s served
cat >ask.py <<'P'
import json, subprocess, sys, urllib.error, urllib.parse, urllib.request
base, files, plain = sys.argv[1].rstrip("/") + "/api/v1/", sys.argv[2], sys.argv[3]
def get(path, **query):
    try:
        with urllib.request.urlopen(base + path + "?" + urllib.parse.urlencode(query)) as r:
            return r.status, r.headers, r.read()
    except urllib.error.HTTPError as e:
        return e.code, e.headers, e.read()
def read(path, **query):
    status, _, body = get(path, **query)
    assert status == 200, (path, query, status, body)
    return json.loads(body)
def refused(path, status, message, **query):
    got, _, body = get(path, **query)
    said = json.loads(body)["error"]["message"]
    assert got == status and message in said, (path, query, got, said)
of = f"runs/{files}/"
for name, kind in (("picture", "image/png"), ("photo", "image/jpeg")):
    status, headers, body = get(of + "artifact", name=name)
    assert (status, headers["content-type"], headers["content-disposition"]) == (200, kind, None), (name, headers)
status, headers, body = get(of + "artifact", name="page")  # never shown as a page of ours
assert headers["content-type"] == "application/octet-stream" and body == b"<script>page", headers
assert headers["content-disposition"] == 'attachment; filename="page"', headers
refused(of + "artifact", 400, "artifact 'large' is larger than 32 MiB", name="large")
refused(of + "artifact", 404, "the contents of artifact 'lost' are not on this machine", name="lost")
refused(of + "artifact", 404, "the run has no artifact 'none'", name="none")
refused(of + "artifact", 404, "the run has no artifact ''")
for part in ("", "/log", "/metrics", "/artifact"):
    refused("runs/ffffffff" + part, 404, "ffffffff")
refused("runs/ffffffff/series", 404, "ffffffff", metric="loss")
# one curve: thinned, a part of it, NaN is null
loss = read(of + "series", metric="loss")
assert loss["count"] == 40 and loss["value"][7] is None and loss["value"][0] == 1, loss
assert read(of + "series", metric="loss", **{"from": 10, "to": 12})["step"] == [10, 11, 12]
assert len(read(of + "series", metric="loss", buckets=2)["step"]) <= 8
refused(of + "series", 400, "the query has no 'metric'")
refused(of + "series", 404, "the run has no metric 'none'", metric="none")
for name in ("from", "to", "buckets"):
    refused(of + "series", 400, name, metric="loss", **{name: "1x"})
refused(of + "series", 400, "buckets", metric="loss", buckets=1)
# a band of several
band = read("band", metric="loss", runs=f"{files},{plain}")
assert len(band["runs"]) == 2 and band["step"] == [i for i in range(40) if i != 7] and abs(band["centre"][1] - 0.5) < 1e-9, band
assert read("band", metric="loss", runs=files, **{"from": 100})["step"] == []
refused("band", 400, "the query has no 'metric'")
refused("band", 400, "a mean curve with its band needs 1 to 20 runs", metric="loss")
refused("band", 400, "a mean curve with its band needs 1 to 20 runs", metric="loss", runs=",".join([files] * 21))
refused("band", 404, "has no metric 'none'", metric="none", runs=files)
refused("band", 404, "ffffffff", metric="loss", runs="ffffffff")
refused("band", 400, "to", metric="loss", runs=files, to="x")
# lists
refused("groups", 400, "'by' can have at most 16 names, and 'values' at most 8", by=",".join(f"n{i}" for i in range(17)))
refused("groups", 400, "'by' can have at most 16 names, and 'values' at most 8", values=",".join(f"n{i}" for i in range(9)))
none = read("groups", by="param.none", values="kind")["groups"]
assert len(none) == 1 and none[0]["by"] == [None] and none[0]["values"] == [None], none
for i in range(20):  # more listings than are kept
    assert read("runs", where=f"wall_s < {1000 + i}")["total"] == 2
status, _, _ = get("runs", where="kind <")
assert status == 400, status
# a trial that is started and ends while it is followed
run, kinds, trials, new_points, last = None, set(), [], 0, None
with urllib.request.urlopen(base + "live?points=*", timeout=30) as stream:
    event = None
    for line in stream:
        line = line.decode().rstrip("\n")
        if line.startswith("event: "):
            event = line[7:]
            kinds.add(event)
        elif line.startswith("data: "):
            data = json.loads(line[6:])
            if event == "trials":
                run = run or subprocess.Popen(["orch", "run", "w.recipe", "slow", "-q"], stdout=subprocess.DEVNULL)
                trials += data["trials"]
                if last is not None and not data["trials"]:
                    break  # it has ended
                last = data["trials"] or last
            elif event == "points" and data["metric"] == "loss":
                new_points += len(data["step"])
key = trials[-1]["key"]
assert kinds >= {"trials", "points"}, kinds
assert new_points > 5 and trials[-1]["total"] == 40 and trials[-1]["phase"] == "working", (new_points, trials[-1])
assert trials[-1]["notes"] == ["alert: m00 > 3 (m00 4 at step 1)"], trials[-1]
assert all(t["is_alive"] for t in trials[:-1]) and trials[-1]["metrics_left_out"] is True  # 71 metrics, 64 are followed
assert len(trials[-1]["last"]) == 64 and any(t["remaining"] for t in trials), trials[-1]
assert run.wait() == 0
assert read(f"runs/{key}")["state"] == "ok"
P
ok python3 ask.py "$(head -n 1 served)" "$files" "$plain"
exit 0
