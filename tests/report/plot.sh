# 'orch plot' and the report item plot: curves, means with intervals, missing runs, ideal and reference lines, thinning,
# output files, and names that look like commands or markup.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
mkdir exp
cat >exp/fit.plugin <<'Y'
plugin: fit
command: [sh, fit.sh, "${lr}", "${mode}", "${workers}", "${repeat}"]
parameters:
  lr: { type: real, default: 0.1, label: learning rate }
  mode: { type: string, default: full }
  workers: { type: int, default: 1 }
metrics:
  loss: { better: min, unit: nats, step: step }
  rate: { better: max, unit: images/s }
Y
cat >exp/fit.sh <<'S'
i=0
while [ $i -lt 5 ]; do echo "{\"step\": $i, \"loss\": $((10 - i + $4 * $4))}"; i=$((i + 1)); done
echo "{\"rate\": $((100 * $3 - 10 * ($3 - 1)))}"
S
cat >exp/long.plugin <<'Y'
plugin: long
command: [sh, long.sh]
metrics:
  wave: { better: max, step: step }
Y
cat >exp/long.sh <<'S'
awk 'BEGIN { for (i = 0; i < 5000; i++) printf "{\"step\": %d, \"wave\": %d}\n", i, i == 1234 ? 99 : i == 3210 ? -99 : i % 7 }'
S
cat >fit.recipe <<'R'
format: 1
recipe: fit
experiments:
  fit: { plugin: exp/fit.plugin, sweep: { lr: [0.1, 0.01] }, repeat: 3 }
  scale: { plugin: exp/fit.plugin, with: { lr: 0.5 }, sweep: { workers: [1, 2, 4] } }
  long: { plugin: exp/long.plugin }
  named: { plugin: exp/fit.plugin, with: { lr: 0.7 }, sweep: { mode: ["<script>x</script>", "'`touch here`'"] } }
report:
  - { title: Loss, plot: { x: step, y: loss, by: lr, experiments: fit } }
  - { title: Last loss, plot: { x: lr, y: last loss, log_x: true, experiments: fit } }
  - { title: Scaling, plot: { x: workers, y: rate, ideal: true, experiments: scale,
      reference: [250, { name: a paper, x: [1, 4], y: [90, 300], source: "Doe 2020, table 2" }] } }
  - { title: Wall, plot: { x: workers, y: wall_s, predicted: true, experiments: scale } }
  - { title: Map, plot: { kind: heat, x: lr, y: repeat, z: last loss, experiments: fit } }
  - { title: Names, plot: { x: mode, y: rate, experiments: named } }
R
git add -A
git commit -qm first
ok orch check fit.recipe
# nothing was run: every plot says so
fails 3 orch plot --y loss
ok orch report fit.recipe --json
same "$(json sections.0.state)" missing
# two of three repeats of one learning rate
ok orch run fit.recipe fit -x fit.lr=0.1 --part 1/3
ok orch run fit.recipe fit -x fit.lr=0.1 --part 2/3
ok orch report fit.recipe --json
printf '%s' "$out" | python3 -c '
import json, sys
section = json.load(sys.stdin)["sections"][0]
assert section["state"] == "partial" and section["planned"] == 6 and section["done"] == 2, section
missing = [b["text"] for b in section["blocks"] if b["kind"] == "missing"]
for name in ("lr=0.1 #3", "lr=0.01 #1", "lr=0.01 #2", "lr=0.01 #3"):
    assert any("no run of " in m and name in m for m in missing), (name, missing)
assert not any("lr=0.1 #1" in m for m in missing)
chart = [b["chart"] for b in section["blocks"] if b.get("chart")][0]
assert {s["name"] for s in chart["series"]} == {"lr=0.1"}       # what is missing is not drawn
point = chart["series"][0]["points"][0]                         # 11 and 14: too few for an interval
assert point["n"] == 2 and abs(point["y"] - 12.5) < 1e-9 and point["high"] is None, point
assert [s["points"][0]["y"] for s in chart["series"] if s["role"] == "run"] in ([11, 14], [14, 11])
' || _fail 'what is missing, or the runs'
ok orch run fit.recipe
ok orch report fit.recipe --json
printf '%s' "$out" | python3 -c '
import json, sys
sections = json.load(sys.stdin)["sections"]
charts = {s["title"]: [b["chart"] for b in s["blocks"] if b.get("chart")][0] for s in sections}
assert all(s["state"] == "complete" for s in sections), [(s["title"], s["state"]) for s in sections]
loss = charts["Loss"]
assert loss["y"] == "loss (nats)" and [s["name"] for s in loss["series"] if s["role"] == "measured"] == ["lr=0.1", "lr=0.01"]
point = loss["series"][0]["points"][2]                          # 9, 12, 17
assert point["x"] == 2 and point["n"] == 3 and abs(point["y"] - 38 / 3) < 1e-9
runs = [s["points"][2]["y"] for s in loss["series"] if s["role"] == "run" and s["name"] == "lr=0.1"]
assert point["low"] is None and sorted(runs) == [9, 12, 17], (point, runs)
assert "means of 3 repeats" in loss["note"]
scaling = charts["Scaling"]
roles = {s["role"]: s for s in scaling["series"] if s["name"] != "a paper"}
paper = [s for s in scaling["series"] if s["name"] == "a paper"][0]
assert [p["y"] for p in roles["measured"]["points"]] == [100, 190, 370]
ideal = roles["ideal"]["points"]
assert abs(ideal[0]["y"] - 100) < 1e-9 and abs(ideal[-1]["y"] - 400) < 1e-6 and len(ideal) > 8
assert roles["reference"]["points"][0]["y"] == 250 and [p["y"] for p in paper["points"]] == [90, 300]
notes = [b["text"] for b in [s for s in sections if s["title"] == "Scaling"][0]["blocks"] if b.get("text")]
assert any("Doe 2020" in n for n in notes), notes
grid = charts["Map"]
assert grid["kind"] == "heat" and len(grid["series"][0]["points"]) == 6
assert charts["Names"]["kind"] == "bar"                         # names are categories
' || _fail 'the charts of the report'
# the same without a recipe
ok orch plot --x step --y loss --by lr -w experiment=fit --ascii
has 'A learning rate 0.1   B learning rate 0.01'
has 'loss (nats)'
has 'means of 3 repeats'
has step
ok orch plot --x workers --y rate --ideal --reference 250 -w experiment=scale
has 'rate (images/s)'
has 'reference 250'
ok orch plot --x lr --y loss -w experiment=fit --json
same "$(json series.0.points.0.n)" 3
ok orch plot --x lr --y loss --kind bar -w experiment=fit
has '○'
has '(thin marks: the single runs)'
ok orch plot --x lr --y loss --kind box --facet repeat -w experiment=fit
has 'repeat 2'
ok orch plot --y loss --kind histogram -w experiment=fit
has points
ok orch plot --kind heat --x lr --y repeat --z loss -w experiment=fit
has 'repeat (down) by learning rate (across)'
ok orch plot --kind heat --x experiment --y repeat --z loss -w experiment=fit
has 'means include runs that differ in learning rate'
ok orch plot --x rate --y loss -w experiment=scale
has 'each point is a run'
# means over something that is not a repeat say so
ok orch plot --x repeat --y loss --by experiment -w experiment=fit
has 'means include runs that differ in learning rate'
# a long curve keeps its extremes
ok orch plot --y wave --json
printf '%s' "$out" | python3 -c '
import json, sys
chart = json.load(sys.stdin)
ys = [(p["x"], p["y"]) for p in chart["series"][0]["points"]]
assert len(ys) < 1300 and (1234, 99) in ys and (3210, -99) in ys and ys[0][0] == 0 and ys[-1][0] == 4999
assert ys == sorted(ys) and "5000" in chart["note"], chart["note"]
' || _fail 'a long curve'
# files
ok orch plot --x lr --y loss -w experiment=fit -o loss.csv
same "$(head -n 1 loss.csv)" panel,series,role,x,y,low,high,z,n
for file in loss.svg loss.png loss.pdf; do
    ok orch plot --x lr --y loss -w experiment=fit -o $file
    [ -s $file ] || _fail "no $file"
    ok orch plot --x lr --y loss -w experiment=fit -o again.${file#*.}
    cmp $file again.${file#*.} || _fail "$file drawn again differs"
done
same "$(head -c 4 loss.pdf)" %PDF
same "$(head -c 4 loss.png | tail -c 3)" PNG
ok orch plot --x mode --y rate -w experiment=named -o names.svg --title "'\"\`touch there\`\$(touch there)"
python3 -c '
import sys, xml.etree.ElementTree as tree
root = tree.parse("names.svg").getroot()
texts = [t.text for t in root.iter("{http://www.w3.org/2000/svg}text")]
assert "<script>x</script>" in texts and "'"'"'`touch here`'"'"'" in texts, texts
assert not list(root.iter("{http://www.w3.org/2000/svg}script"))
' || _fail 'hostile names in an SVG'
ok orch plot --x mode --y rate -w experiment=named -o names.pdf --title 'Rate η of μ'
if command -v pdftotext >/dev/null; then
    pdftotext names.pdf names.txt
    for text in 'Rate η of μ' '<script>x</script>'; do grep -qF "$text" names.txt || _fail "the PDF lacks the text $text"; done
fi
# a chart that cannot be written leaves nothing behind
fails 3 orch plot --x lr --y loss -w experiment=fit -o nowhere/loss.svg
says nowhere
[ ! -e here ] && [ ! -e there ] || _fail 'a name was run as a command'
ok orch plot --x mode --y rate -w experiment=named
has '<script>x'
# what cannot be
fails 2 orch plot
says "'--y' is missing"
fails 2 orch plot --y nothing
says nothing
fails 2 orch plot --y loss --x nowhere
says nowhere
fails 2 orch plot --y loss --by nobody
says nobody
fails 2 orch plot --y loss --kind pie
says pie
fails 2 orch plot --y loss -o loss.gif
says FILE.svg
fails 2 orch plot --y loss --z loss
says heat
fails 2 orch plot --y lr --kind heat --x lr
says '--z'
fails 2 orch plot --y loss --predicted
says wall_s
fails 2 orch plot --y loss --reference much
says much
fails 2 orch plot --y loss -w 'lr = 77'
says 'matches the filter'
refused() { # refused PLOT PLACE WHAT: at the last PLACE of that line
    local line="  - plot: { $1 }" before
    before=${line%"$2"*}
    {
        sed '/^report:/,$d' fit.recipe
        printf 'report:\n%s\n' "$line"
    } >bad.recipe
    fails 2 orch check bad.recipe
    says "bad.recipe:9:$((${#before} + 1))"
    says "$3"
}
refused 'x: step, y: loss, kind: pie' pie "kind of plot 'pie'"
refused 'x: lr, y: repeat, kind: heat' '{' "needs 'z'"
refused 'x: lr, y: repeat, kind: heat, z: last lss' 'last lss' "'lss'"
refused 'x: lr, y: nobody, kind: heat, z: loss' nobody "'nobody'"
refused 'x: lr, y: loss, z: last loss' 'last loss' 'kind: heat'
refused 'x: lr, y: loss, predicted: true' true wall_s
refused 'x: lr, y: loss, reference: much' much "'much'"
refused 'x: lr, y: loss, reference: { name: a, x: [1, 2], y: [1] }' '{' 'equally many x and y values, found 2 and 1'
refused 'x: lr, y: loss, reference: { x: [1], y: [1] }' '{' "'name'"
refused 'x: lr, y: loss, reference: { name: a, x: [1], y: [b] }' b "'b'"
refused 'x: lr, y: loss, refernce: 3' refernce "'refernce'"

# a panel each for very many values is refused; runs without a value to draw are named apart
ok orch try -x 'n=range(1,70)' -- sh -c 'test {n} = 3 && echo top=inf || echo top=1'
fails 2 orch plot --x repeat --y top --facet n -w 'recipe = try' -o many.png
says 'a chart has at most 60 panels'
ok orch plot --x repeat --y top --by n -w 'recipe = try' --ascii
says 'no value to draw in the run of sh n=3 #1'
