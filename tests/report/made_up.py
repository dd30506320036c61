"""made_up.py RECIPE: replaces the plugins of a recipe by programs that make numbers up at once, so that a store of all its
trials takes seconds. The programs have the parameters, metrics and artifacts of the plugins, and the numbers follow
from the parameters and the seed: a loss falls, a time falls with the workers, an accuracy depends on the setting.

The folder of the recipe gets 'made/NAME.plugin' for each plugin, and the recipe names these."""
import json, os, re, subprocess, sys

PROGRAM = r'''
import hashlib, json, math, random, struct, sys, zlib
name, seed, manifest = sys.argv[1], sys.argv[2], json.load(open(sys.argv[3]))
params = dict(word.split("=", 1) for word in sys.argv[4:])
rng = random.Random(f"{name} {seed} {sorted(params.items())}")
def share(*words): # from 0 to 1, the same for the same words
    return int(hashlib.sha256(repr(words).encode()).hexdigest()[:8], 16) / 2**32
setting = sorted((k, v) for k, v in params.items() if k not in ("seed", "workers", "learners", "actors"))
def number(text):
    try:
        return float(text)
    except ValueError:
        return 0.0
workers = max(number(params.get(k, "1")) for k in ("workers", "learners", "servers", "actors", "threads")) or 1
def value(metric, at):
    """A number of a metric at a share of the training."""
    word, unit, noise = metric["name"], metric.get("unit", ""), rng.uniform(0.98, 1.02)
    level = 0.5 + share(word, setting)
    if word == "oversubscribed":
        return 0
    if word == "simulated":
        return 1 if name == "simcluster" else 0
    if word.startswith("reached") or word in ("solved", "agrees"):
        return int(rng.random() < 0.8)
    if "loss" in word or "error" in word:
        return level / (1 + 5 * at) * noise
    if "accuracy" in word or "share" in word or word.startswith("m_ap"):
        return min(0.99, 0.6 + 0.2 * level * at * noise)
    if unit in ("s", "ms", "us", "ns"):
        return 2 * level / workers**0.7 * noise
    if unit.endswith("/s"):
        return 100 * level * workers**0.7 * noise
    return round(10 * level) if unit in ("", "images", "bytes") and metric.get("better") == "none" else 10 * level * noise
for metric in manifest["metrics"]:
    if not metric.get("step_unit"):
        continue
    for k in range(1, 11):
        print(json.dumps({"step": k, metric["name"]: value(metric, k / 10)}))
print(json.dumps({m["name"]: value(m, 1) for m in manifest["metrics"] if not m.get("step_unit")}))
def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
PNG = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(b"\0\x80")) + chunk(b"IEND", b"")
for artifact in manifest["artifacts"]:
    with open(artifact["name"] + ".out", "wb") as file:
        if "PNG" in artifact.get("help", ""):
            file.write(PNG)
        elif artifact["columns"]:
            rows = [artifact["columns"]] + [[f"{c} {i}" if k == 0 else f"{rng.random():.4f}" for k, c in enumerate(artifact["columns"])] for i in range(3)]
            file.write("".join(",".join(row) + "\n" for row in rows).encode())
        else:
            file.write(b"made up")
'''
REAL = {"netstat", "staleness"}  # these only count
COST = {"train", "finetune", "scaling"}

def columns_of(text, artifact):
    """The columns that the recipe's listings show of an artifact."""
    found = ["class"]
    for item in re.findall(r"listing: \{(.*)\}", text):
        if not re.search(rf"artifact: {artifact}\b", item):
            continue
        for key in ("columns", "bars", "answer"):
            words = re.search(rf"{key}: (\[[^]]*\]|[^,}}]*)", item)
            for word in words.group(1).strip("[] ").split(",") if words else []:
                if word.strip() and word.strip() not in found:
                    found.append(word.strip())
    return found

def make(plugin, text, folder):
    shown = json.loads(subprocess.run(["orch", "plugin", "show", plugin, "--json"], check=True, capture_output=True).stdout)
    for artifact in shown["artifacts"]:
        artifact["columns"] = columns_of(text, artifact["name"])
    keep = ("type", "default", "min", "max", "choices", "optional", "neutral", "unit", "label")
    manifest = {
        "command": ["python3", "program.py", plugin, "${seed}", f"{plugin}.json"] + [f"{p['name']}=${{{p['name']}}}" for p in shown["params"]],
        "parameters": {p["name"]: {k: p[k] for k in keep if k in p} for p in shown["params"]},
        "metrics": {m["name"]: {("step" if k == "step_unit" else k): m[k] for k in ("unit", "better", "step_unit", "label") if k in m} for m in shown["metrics"]},
        "artifacts": {a["name"]: {"path": a["name"] + ".out"} for a in shown["artifacts"]},
    }
    names = {p["name"] for p in shown["params"]}
    if plugin in COST:
        cost = {"network": "${net}", "batch": "${batch}", "epochs": "${epochs}", "images": "640", "input": "3x32x32", "classes": "10"}
        manifest["cost"] = {k: v for k, v in cost.items() if not v.startswith("$") or v[2:-1] in names}
    json.dump(manifest, open(f"{folder}/{plugin}.plugin", "w"))
    json.dump(shown, open(f"{folder}/{plugin}.json", "w"))

path = sys.argv[1]
text, folder = open(path).read(), os.path.join(os.path.dirname(path), "made")
os.makedirs(folder, exist_ok=True)
open(f"{folder}/program.py", "w").write(PROGRAM)
pattern = re.compile(r'(\bplugin: *)"?([a-z][a-z0-9_-]*)"?(?=[ ,}\n])')
for plugin in sorted({m.group(2) for m in pattern.finditer(text)} - REAL):
    make(plugin, text, folder)
open(path, "w").write(pattern.sub(lambda m: m.group(0) if m.group(2) in REAL else f"{m.group(1)}./made/{m.group(2)}.plugin", text))
