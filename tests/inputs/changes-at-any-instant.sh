# A file is changed at a random instant of each of twenty sweeps: every recorded input is what its run has read, or the
# run says that it is not.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
[ -e "$BUILD/orch-watch.so" ] || skip 'no orch-watch.so'
cat >a.py <<'P'
import importlib, os, sys, time
kind, n = sys.argv[1], sys.argv[2]
time.sleep(0.05)
if kind == "module":
    value = importlib.import_module("con" + "f").V
elif kind == "folder":
    names = sorted(os.listdir("ma" + "ny"))
    value = [int(open("many/" + name).read()) for name in names][names.index("f30.txt")]
else:
    name = sys.argv[3] if len(sys.argv) > 3 else {"captured": "d.tx", "ignored": "i.tx"}[kind] + "t"
    value = int(open(name).read())
time.sleep(0.05)
print("v", value)
P
echo 'i.txt' >.gitignore
mkdir many
for i in $(seq 60); do echo 0 >many/f$i.txt; done
cat >"$SCRATCH/sweeps.py" <<'P'
import hashlib, json, os, random, subprocess, time
random.seed(20)
KINDS = {"captured": "d.txt", "ignored": "i.txt", "module": "conf.py", "folder": "many/f30.txt"}
FLAGS = ("rewritten", "unwatched", "inputs_not_looked_at")


def text(kind, value):
    return f"V = {value}\n" if kind == "module" else f"{value}\n"


def sha(data):
    return hashlib.sha256(data.encode()).hexdigest()


def expected(kind, value):
    """Name and digest of the input of a run that read a value."""
    if kind != "folder":
        return KINDS[kind], sha(text(kind, value))
    lines = {f"f{i}.txt": text(kind, value if i == 30 else 0) for i in range(1, 61)}
    return "many/", sha("".join(f"{name} {sha(lines[name])}\n" for name in sorted(lines)))


def change(kind, way, value):
    name = KINDS[kind]
    if way == "in place":
        with open(name, "w") as file:
            file.write(text(kind, value))
        return
    with open("../new", "w") as file:
        file.write(text(kind, value))
    if way == "older":
        os.utime("../new", (1600000000, 1600000000))
    if way == "removed":
        os.remove(name)
        time.sleep(0.02)
    os.replace("../new", name)


def orch(*words):
    return json.loads(subprocess.run(["orch", *words, "--json"], stdout=subprocess.PIPE, check=True).stdout)


def check(kind, keys):
    told = 0
    for key in keys:
        run = orch("show", key)
        run = run.get("run", run)
        inputs = {row["name"]: row["sha256"] for row in run["inputs"]}
        says = run["state"] != "ok" or "gaps" in run["facts"].get("watched", {}) or any(f in run["facts"] for f in FLAGS)
        told += says
        if not says:
            name, digest = expected(kind, int(run["metrics"]["v"]) if "v" in run.get("metrics", {}) else value_of(run))
            assert inputs.get(name) == digest, (kind, key, name, inputs)
    return told


def value_of(run):
    return int(float(next(m["last"] for m in run["metrics"] if m["name"] == "v")))


told = checked = 0
for sweep in range(20):
    kind = list(KINDS)[sweep % 4]
    way = ("in place", "older", "removed", "in place")[sweep // 4 % 4]
    words = [KINDS[kind]] if sweep >= 12 and kind in ("captured", "ignored") else []
    for each in KINDS:
        change(each, "in place", 0)
    before = {run["key"] for run in orch("ls", "-n", "0")["runs"]} if os.path.exists(".orch") else set()
    command = ["orch", "try", "--force", "-x", "n=1,2,3", "--", "python3", "a.py", kind, "{n}", *words]
    with open("../log", "w") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
        time.sleep(random.uniform(0, 1.2))
        change(kind, way, 1000 + sweep)
        status = process.wait()
    assert status == 0 or way == "removed", open("../log").read()
    new = [run["key"] for run in orch("ls", "-n", "0")["runs"] if run["key"] not in before]
    assert len(new) >= 3, new
    told += check(kind, new)
    checked += len(new)
print("runs that say it:", told, "of", checked)
P
for name in d.txt i.txt; do echo 0 >$name; done
echo 'V = 0' >conf.py
git add -A
git commit -qm one
ok orch try -x n=0 -- python3 a.py captured '{n}'
ok orch show @last --json
echo "$out" >"$SCRATCH/shown"
ok python3 "$SCRATCH/sweeps.py"
has 'runs that say it'
