# Lab 5, 2.1 and 2.2: one thread and two are two kinds of hardware with five models each, which are compared; pictures from elsewhere
# are judged by the models of both; nothing of it is called by another name. Programs that make numbers up stand in for the plugins.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
[ "$(getconf _NPROCESSORS_ONLN)" -ge 2 ] || skip 'two processors are needed'
for plugin in train judge layerbench vecadd netstat; do
    orch plugin show $plugin >/dev/null 2>&1 || skip "plugin '$plugin' is not built here"
done
mkdir recipes
cp "$SOURCE/recipes/lab5.recipe" recipes/
echo '*.out' >.gitignore
ok python3 "$SOURCE/tests/report/made_up.py" recipes/lab5.recipe
export ORCH_WILD=$SCRATCH/pictures
ok orch run recipes/lab5.recipe tta tta2 held held2 altered altered2 wild wild2 -q
ok orch report recipes/lab5.recipe --disturbed --json
python3 - "$SCRATCH/out" <<'P' || _fail 'the two kinds of hardware'
import json, re, sys
sections = json.load(open(sys.argv[1]))["sections"]
named = lambda question, kind, word: [s for s in sections if s["question"] == question and s["kind"] == kind and word in s["title"]]
table = lambda s: next(b["rows"] for b in s["blocks"] if b["kind"] == "table")
times = named("2.1", "time_to_accuracy", "one thread and two")[0]
rows = [r for r in table(times) if r["value"].startswith("epochs")]
assert [re.search(r"\d+ threads?$", r["device_key"]).group(0) for r in rows] == ["1 thread", "2 threads"] and [r["runs"] for r in rows] == [5, 5], rows
assert any(re.search(r"(not )?more than noise\. Test: F test, p ", b["text"]) for b in times["blocks"] if b["kind"] == "text"), times["blocks"]
wild = named("2.2", "table", "another source")
assert len(wild) == 2 and {r["experiment"] for r in table(wild[1])} == {"wild", "wild2"}, wild
assert all("deviation_of_accuracy" in r for r in table(wild[1]))
for s in sections:  # altered images are nowhere images from elsewhere
    if any(r["experiment"].startswith("altered") for r in s["runs"]):
        assert "altered" in s["title"] and "another source" not in s["title"], s["title"]
P
# without a folder the real plugin skips these trials: tests/experiments/wild-images.sh
