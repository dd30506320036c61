# report.no-sentence-repeated RECIPE: no sentence stands more than three times in the report of a recipe whose trials have all
# run, as programs that make numbers up (tests/report/made_up.py), and each number is the one that tests/answers.py computes from the
# runs; tests/cli/tests.cmake makes one test for each recipe.
# test: slow timeout=1800 each=hw3,hw4,hw7,lab5,lecture7
. "$(dirname "$0")/../cli/lib.sh"
cp -r "$SOURCE/recipes" .
echo '*.out' >.gitignore
recipe=recipes/$1.recipe
for plugin in $(sed -n 's/^ *\(.*[{ ]\)\{0,1\}plugin: *"\{0,1\}\([a-z][a-z0-9_-]*\).*/\2/p' "$recipe" | sort -u); do
    orch plugin show "$plugin" >/dev/null 2>&1 || skip "plugin '$plugin' is not built here"
done
ok python3 "$SOURCE/tests/report/made_up.py" "$recipe"
ok orch run "$recipe" -q
# repeated WHERE LEAST: at least so many sections have a result
repeated() {
    python3 - "$SCRATCH/out" "$2" <<'P' || _fail "a sentence is repeated$1"
import collections, json, re, sys
document = json.load(open(sys.argv[1]))
said, done = collections.Counter(), 0
verdict = re.compile(r"Difference from |how this was computed: |The (last|lowest|highest) |Test: |Its .* is \d|It is ")  # parts of a sentence about its own numbers
for section in document["sections"]:
    done += section["state"] not in ("missing", "skipped", "student")
    for block in section["blocks"]:
        if block["kind"] in ("student", "code"):
            continue
        if block["kind"] == "missing":  # other trials, with another command, may be as many
            said[block["text"] + (block.get("hint") or "")] += not block["text"].startswith("the same as in ")
            continue
        for text in (block.get("text"), (block.get("chart") or {}).get("note")):
            said.update(s.strip(" .;") for s in re.split(r"(?<=[.;])\s+|\n", text or "") if len(s.strip(" .;")) > 20 and not verdict.match(s))
assert done >= int(sys.argv[2]), done
often = {sentence: count for sentence, count in said.items() if count > 3}
assert not often, often
print(len(said), "sentences")
P
}
ok orch report "$recipe" --json
repeated '' 8
ok orch report "$recipe" --disturbed --json
repeated ' with disturbed runs' 8
if /usr/bin/python3 -c 'import scipy, yaml' 2>/dev/null; then
    ok /usr/bin/python3 "$SOURCE/tests/answers.py" "$recipe"
    printf '%s\n' "$out" | tail -1
fi
# and where nothing has run
rm -rf .orch recipes/.orch
ok orch report "$recipe" --json
repeated ' without runs' 0
