# A pair of settings has one verdict in a question: its items `best` and `compare` share one family of tests. Tried on the
# questions of all recipes, with made numbers in place of their trainings.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
python3 -c 'import yaml' 2>/dev/null || skip 'no PyYAML'
cat >job.sh <<'S'
# a level for each setting, noise for each run: some differences are more than noise, others are not
level=$(printf '%s' "$1" | cksum | cut -d' ' -f1)
noise=$(printf '%s %s' "$1" "$2" | cksum | cut -d' ' -f1)
awk -v l="$level" -v n="$noise" -v names="$3" 'BEGIN { v = 0.4 + 0.4 * (l % 1000) / 1000 + 0.12 * (n % 997) / 997
    k = split(names, of, ","); printf "{"; for (i = 1; i <= k; i++) printf "%s\"%s\": %.9f", (i > 1 ? ", " : ""), of[i], v; print "}" }'
S
cat >make.py <<'P'
"""Writes recipes whose questions test what those of a recipe do: the same items and sweeps, with a plugin of made numbers."""
import glob, os, re, sys
import yaml

def listed(value):
    return value if isinstance(value, list) else [] if value is None else [value]

for path in sorted(glob.glob(sys.argv[1] + "/*.recipe")):
    try:
        recipe = yaml.safe_load(open(path))
    except yaml.YAMLError:  # a word of YAML that PyYAML does not read
        continue
    items = []
    for item in recipe.get("report") or []:
        kind = next((k for k in ("best", "compare") if k in item and "predicted" not in item[k]), None)
        if kind:
            spec = {k: v for k, v in item[kind].items() if k != "where"}
            items.append({"question": str(item.get("question", "")), "title": item["title"], kind: spec})
    of = [i["question"] for i in items]
    items = [i for i in items if of.count(i["question"]) > 1]
    if not items:
        continue
    specs = [i.get("best") or i["compare"] for i in items]
    names = {n for s in specs for n in listed(s.get("experiments"))}
    axes = {a for s in specs for a in listed(s["by"]) + listed(s.get("best_of"))} - {"experiment"}
    metrics = sorted({v.split(" ")[-1] for s in specs for v in listed(s["value"])})
    made, plain = {}, lambda v: re.sub(r"\W", "_", v)
    text = yaml.safe_dump({"report": items}, sort_keys=False, width=10**6)
    for name in metrics:
        text = re.sub(rf"(?<![\w/]){re.escape(name)}(?![\w/])", plain(name), text)
    profile = ((recipe.get("profiles") or {}).get(recipe.get("profile")) or {}).get("experiments") or {}
    for name in names:
        own, changed = recipe["experiments"][name], profile.get(name)
        sweep = {**(own.get("sweep") or {}), **((changed or {}).get("sweep") or {} if isinstance(changed, dict) else {})}
        made[name] = {"plugin": "./job.plugin", "with": {"of": name}, "sweep": {k: [str(v) for v in vs] for k, vs in sweep.items() if k in axes and isinstance(vs, list)}, "repeat": 3}
        made[name] = {k: v for k, v in made[name].items() if v}
    folder = os.path.basename(path)[:-7]
    os.mkdir(folder)
    swept = sorted(axes)
    yaml.safe_dump({"command": ["sh", "../job.sh", "${of} " + " ".join("${%s}" % a for a in swept), "${seed}", ",".join(map(plain, metrics))],
                    "parameters": {a: {"type": "string", "default": "none"} for a in ["of", *swept]},
                    "metrics": {plain(m): {"better": "max"} for m in metrics}}, open(folder + "/job.plugin", "w"), width=10**6)
    with open(folder + "/r.recipe", "w") as out:
        out.write("format: 1\nrecipe: %s\n" % folder + yaml.safe_dump({"experiments": made}, width=10**6) + text)
    print(folder)
P
cat >verdicts.py <<'P'
"""Each pair of settings that several items of a question show has one p and one interval there."""
import collections, json, re, sys

raw = lambda words: " ".join((p.split(" ")[-1] if re.search(r" ([-+.\de]+|true|false)$", p) else p.split(" ")[0]) for p in re.split(", | with ", words))  # of "lr 0.1", "2 workers", "ring algorithm"
size = lambda low, high: tuple(sorted((abs(float(low)), abs(float(high)))))  # whichever side is subtracted
shown = collections.defaultdict(list)  # {(question, pair): [(experiments, (p, interval))]}
times = collections.Counter()
for section in json.load(open(sys.argv[1]))["sections"]:
    pairs, of = [], {r["experiment"] for r in section["runs"]}
    if section["kind"] == "best":
        answer = next(b["text"] for b in section["blocks"] if b["kind"] == "answer")
        first = raw(re.match(sys.argv[2], answer).group(1))
        for table in (b["shown"] for b in section["blocks"] if b["kind"] == "table"):
            pairs += [(first, cells[0], cells[-1], re.fullmatch(r"(\S+) to (\S+)", cells[-2])) for cells in table["cells"]]
    elif section["kind"] == "compare":
        base = None
        for text in (b["text"] for b in section["blocks"] if b["kind"] == "text"):
            found = re.match(r"(.*?)(?: \(best: (.*?)\))?: ", text)
            name = " ".join(raw(words) for words in found.groups() if words)
            test = re.search(r"\(95 % interval (\S+) to (\S+)\), [a-z ]*noise\. Test: .*?, corrected p ([<\d.e-]+)", text)
            base = base or name
            pairs += [(base, name, test.group(3), test)] if test else []
    for a, b, p, ends in pairs:
        if ends:
            key = section["question"], *sorted((a, b))
            shown[key].append((of, (p, size(*ends.groups()[:2]))))
            times[key] += 1
several = {key: found for key, found in shown.items() if any(one != two for x, one in found for y, two in found if x & y)}
assert not several, several
print(sum(1 for key in times if times[key] > 1))
P
python3 make.py "$SOURCE/recipes" >made
test "$(wc -l <made)" -ge 5 || _fail "only $(wc -l <made) recipes with tests"
both=0
while read -r folder; do
    ok orch run "$folder/r.recipe" -q -y
    ok orch report "$folder/r.recipe" --json
    pairs=$(python3 verdicts.py "$SCRATCH/out" 'Best of \d+ settings: (.*?)\. Its ') || _fail "verdicts of $folder"
    both=$((both + pairs))
done <made
test "$both" -ge 2 || _fail "only $both pairs are shown twice"
