# Every kind of report item, on runs of a wrapped program with known numbers; some runs are another user's, some are
# missing.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
mkdir exp
cat >exp/job.py <<'P'
import os, sys, zlib, struct
mode, lr, batch = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
repeat = int(os.environ["ORCH_REPEAT"])
score = {"full": 0.8, "feature": 0.6}[mode] + lr + 0.001 * repeat
for epoch in range(1, 4):
    print(f"step={epoch} accuracy={score * epoch / 3:.6f}")
print("final", score)
print("steps_per_s", 1.5)
print("images_per_s", 1.5 * batch)
print("guess", 1.65 * batch)
def chunk(kind, data): return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
open("samples.png", "wb").write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)) +
                                chunk(b"IDAT", zlib.compress(b"\0\x80")) + chunk(b"IEND", b""))
open("layers.csv", "w").write("layer,params,params_working\nfc1,110,10*10 + 10\nfc2,22,10*2 + 2\n")
P
cat >exp/job.plugin <<'Y'
plugin: job
version: 1.0.0
command: [python3, job.py, "${mode}", "${lr}", "${batch}"]
metrics_from: lines
parameters:
  mode: {type: string, default: full}
  lr: {type: real, default: 0.1, label: learning rate}
  batch: {type: int, default: 64}
metrics:
  accuracy: {better: max, step: epoch}
  final: {better: max}
  steps_per_s: {unit: /s}
  images_per_s: {unit: images/s, better: max}
  guess: {unit: images/s}
artifacts:
  samples: samples.png
  layers: layers.csv
Y
cat >r.recipe <<'R'
format: 1
recipe: r
about: A report of every kind
profile: small
profiles: { small: { experiments: { huge: { skip: "needs a large machine" } } }, large: {} }
problems: { p1: [tune, feature], p2: [huge] }
experiments:
  tune: { plugin: exp/job.plugin, reuse: any, sweep: { lr: [0.01, 0.1] }, repeat: 2 }
  feature: { plugin: exp/job.plugin, reuse: any, with: { mode: feature }, sweep: { lr: [0.01, 0.1] }, repeat: 2 }
  huge: { plugin: exp/job.plugin, reuse: any, with: { batch: 4096 } }
report:
  - { question: 1.1, title: Intro, text: "Two ways of training." }
  - { question: 1.1a, title: Final, points: 4, table: { rows: lr, columns: experiment, value: [result final, best accuracy], experiments: [tune, feature] } }
  - { question: 1.1a, title: Values, table: { rows: [experiment, lr], value: [result final, result images_per_s], experiments: [tune, feature], where: "lr < 0.05" } }
  - { question: 1.1b, title: Winner, points: 2, best: { value: result final, by: [experiment, lr], experiments: [tune, feature] } }
  - { question: 1.1b, title: Against, compare: { value: result final, by: experiment, best_of: lr, baseline: feature, experiments: [feature, tune] } }
  - { question: 1.2, title: Speed, compare: { predicted: result guess, measured: result images_per_s, by: experiment, experiments: [tune] } }
  - { question: 1.2, title: Modes, compare: { predicted: tune, measured: feature, value: result final, by: lr } }
  - { question: 1.3, title: Cells, coverage: }
  - { question: 1.3, title: Working, work: { formula: "images_per_s = batch * steps_per_s", by: experiment, experiments: [tune, feature] } }
  - { question: 1.3, title: Layers, work: { by: experiment, experiments: [tune] } }
  - { question: 1.4, title: Pictures, images: { artifact: samples, by: lr, experiments: [tune] } }
  - { question: 1.5, title: Why, points: 3, student: }
  - { question: 2.1, title: Large, points: 5, table: { rows: batch, value: result final, experiments: [huge] } }
R
git add -A
git commit -qm first
ok orch check r.recipe
# nothing was run: every cell is there as missing, with what to run
ok orch report r.recipe --only 1.1a
has 'missing: 8 of 8 trials are not run'
has 'to have it: orch run r.recipe tune feature'
ok orch run r.recipe tune -q
ORCH_USER=bob ok orch run r.recipe feature -x lr=0.01 -q
ok orch report r.recipe --runs --disturbed # other programs may run beside this test
row() { printf '%s\n' "$out" | tr -s ' ' | sed 's/^ //' | grep -m1 "^$1 " || _fail "no line that begins with '$1'"; }
has 'r: A report of every kind'
has 'profile small'
has 'Two ways of training.'
same "$(row 0.1)" '0.1 0.9015 (0.9010..0.9020) 0.9015 (0.9010..0.9020) missing missing'
has 'Best of 3 settings: tune with learning rate 0.1. Its final is 0.9015 (2 repeats: 0.9010 to 0.9020)'
has 'clearly better than tune with learning rate 0.01, by 0.0900 (95 % interval '
has ' and tune with learning rate 0.01: 0.0900 (95 % interval '
has ', better by more than noise. Test: '
same "$(row 'tune 105.6')" 'tune 105.6 96 10.000'
has 'The mean error of 1 prediction is 10 %. The largest error is +10 %, for tune'
same "$(row 'feature lr=0.01')" 'feature lr=0.01 bob bob'
same "$(row 'feature lr=0.1')" 'feature lr=0.1 missing missing'
has '6 of 8 trials have runs: tester 4, bob 2'
has 'tune: images_per_s = batch * steps_per_s = 64 * 1.500 = 96 images/s'
has '10*10 + 10 = 110'
has 'learning rate 0.01, run '
has 'yours to write'
has 'missing: experiment huge is left out by profile '"'small': needs a large machine"
same "$(row bob | cut -d' ' -f1-7)" 'bob feature 2 lr=0.01 #1, lr=0.01 #2'
has 'runs: 6 of 8'
# the pictures are the artifacts
ok orch report r.recipe --json
printf '%s' "$out" | python3 -c '
import json, sys
d = json.load(sys.stdin)
states = {}
for s in d["sections"]: states.setdefault(s["question"], []).append(s["state"])
assert states["1.1a"] == ["partial", "complete"], states
assert states["1.2"] == ["complete", "partial"] and states["1.5"] == ["student"] and states["2.1"] == ["skipped"], states
pictures = [p for s in d["sections"] for b in s["blocks"] for p in b.get("pictures", [])]
assert len(pictures) == 2 and all(open(p["path"], "rb").read(4) == b"\x89PNG" for p in pictures), pictures
table = next(b["rows"] for b in d["sections"][2]["blocks"] if b["kind"] == "table")
assert [r["experiment,_lr"] for r in table] == ["tune 0.01", "feature 0.01"], table   # where: lr < 0.05
others = [s for s in d["sections"] if s["kind"] == "collaborators"]
assert len(others) == 1 and {r["who"] for r in others[0]["runs"]} == {"bob"}, others
assert all(s["command"].startswith("orch report r.recipe") for s in d["sections"])
' || _fail 'the report as JSON is wrong'
# bob sees himself as the one, and tester as another
ORCH_USER=bob ok orch report r.recipe --only 1.1a
has 'Runs made by others'
has 'tester  tune'
# nobody else's runs: no such section
ok orch report r.recipe --only 1.2 p1
has 'Speed'
ok orch report r.recipe --only 1.5
has_not 'Runs made by others'
# questions: a problem, a part, several; an unknown one is said with those that there are
ok orch report r.recipe --only 2
has '2.1  Large'
has_not '1.1a'
ok orch report r.recipe --only 1.1a --only 1.5
has 'Final'
has 'Why'
has_not 'Winner'
fails 2 orch report r.recipe --only 1.9
says "no question '1.9'"
says '1.1, 1.1a, 1.1b'
# a problem: only items about it
ok orch report r.recipe p1
has 'Final'
has_not '2.1  Large'
# another profile: what is asked and what it takes to have it
ok orch report r.recipe -p large --only 2.1
has 'to have it: orch run r.recipe -p large huge'
# points
ok orch report r.recipe --points --json
printf '%s' "$out" | python3 -c '
import json, sys
d = json.load(sys.stdin)
state = {p["part"]: (p["points"], p["state"]) for p in d["parts"]}
assert state["1.1a"] == (4, "partial") and state["1.5"] == (3, "yours to write") and state["2.1"] == (5, "skipped"), state
assert d["totals"]["all"] == 14 and d["totals"]["skipped"] == 5, d["totals"]
' || _fail 'the points are wrong'
ok orch report r.recipe --points
has '14 points in all, in profile small'
has 'needs a large machine'
fails 2 orch report r.recipe --points --only 1.1a
says 'whole report'
# the end of a run shows the beginning of it, for what was asked, in ten lines
ok orch run r.recipe feature -q
same "$(grep -c . <<<"$out")" 4 'lines at the end'
has '1.1a  '
has_not 'Large'
has ' points answered'
has 'report: orch report r.recipe'
has_not 'page:' # of a part
[ ! -e .orch/reports ] || _fail 'a part of the report became the page'
ok orch run r.recipe -q
has 'page: .orch/reports/'
has 'hand in: orch submit --netid ID r.recipe'
# a question is answered when each of its items is
has '6 of 9 points answered, 3 yours to write'
sed 's|, feature], where: "lr < 0.05"|, feature, huge]|; s|with: . batch: 4096|with: { mode: nosuch|' r.recipe >half.recipe
fails 1 orch run half.recipe -p large -q
has '2 of 14 points answered, 3 yours to write; left: 1.1a, 1.3, 2.1'
# wrong items are found when the recipe is read, each at its place
bad() {
    sed "s|coverage: }|$1 }|" r.recipe >bad.recipe
    fails 2 orch check bad.recipe
    says "$2"
    says 'bad.recipe:19:'
}
bad 'table: { rows: lr, value: result final, where: "lrr < 1" }' "unknown parameter or metric 'lrr'"
bad 'table: { rows: lr, value: result final, where: "lr <" }' "expected a value after 'lr <'"
bad 'table: { rows: lr, value: result final, where: "who = ada and state = ok and lr < 1" }, points: x' 'is not a number'
bad 'coverage: { rows: lrr }' "unknown parameter 'lrr'"
bad 'work: { formula: "x = steps_per_s * batchs" }' "unknown parameter or metric 'batchs'"
bad 'work: { formula: "x = steps_per_s *" }' 'expected a name or a number'
bad 'work: { formula: "steps_per_s * 2" }' "formula has no '='"
bad 'work: { formula: "x = avg steps_per_s" }' "'avg' is not a summary"
bad 'images: { artifact: sample }' "unknown artifact 'sample'"
bad 'compare: { predicted: tune, by: lr, value: final }' "needs both 'predicted' and 'measured'"
bad 'compare: { predicted: tune, measured: feature, by: lr }' "'compare' needs 'value'"
bad 'compare: { predicted: tuen, measured: feature, by: lr, value: final }' "unknown metric 'tuen'"
bad 'compare: { predicted: guess, measured: images_per_s, baseline: tune, by: lr }' "'predicted' excludes 'baseline'"
bad 'compare: { by: lr }' "'compare' needs 'value'"
bad 'student: { text: x }' "'student' must be a text"
bad 'collaborators: { by: lrr }' "unknown parameter 'lrr'"
# the same table over any runs, without a recipe
ok orch table --rows lr --columns mode --value 'result final' --format tsv
has "$(printf 'lr\t')"
ok orch table --rows lr --columns experiment --value 'result final' --where 'repeat = 1' --format json
printf '%s' "$out" | python3 -c '
import json, sys
rows = {r["lr"]: r for r in json.load(sys.stdin)["rows"]}
assert rows["0.1"]["tune"] == 0.901 and rows["0.01"]["feature"] == 0.611, rows' || _fail 'the table is wrong'
ok orch table --rows experiment,lr --value 'max accuracy' --value wall_s --format csv
has 'experiment,lr,'
has 'wall_s (s)'
ok orch table --rows lr --value 'result final' --format latex
has '\begin{tabular}'
ok orch table --rows lr --value 'result final' --format markdown --across
has '| learning rate'
ok orch table --rows lr --value 'result final' --format markdown
has '| experiment | learning rate'
fails 2 orch table --rows lrr --value final
says "none of 8 runs has a 'lrr'"
fails 2 orch table --rows lr --value 'result finale'
says "'finale'"
fails 2 orch table --rows lr
says 'needs --rows and --value'
fails 2 orch table --rows lr --value final --format pdf
says pdf
fails 2 orch table --rows lr --value final --where 'lrr = 1'
says lrr
# what a plugin refuses here (its data may be on another machine) is looked up by its parameters; what nobody has run
# of it is skipped, with the plugin's words. Here a stand-in made the runs that the real netstat refuses.
mkdir other
cat >other/netstat.plugin <<'Y'
plugin: netstat
version: 9.0.0
command: [echo, params, "7"]
metrics_from: lines
parameters:
  net: {type: string, default: vgg19}
  input: {type: string, default: ""}
  classes: {type: int, default: 0}
  batch: {type: int, default: 1}
  per_mac: {type: int, default: 2}
  states: {type: int, default: 1}
  peak_tflops: {type: real, default: 0}
  against: {type: string, default: ""}
  kernels: {type: list of int, default: []}
  strides: {type: list of int, default: []}
metrics: { params: {help: weights} }
Y
cat >far.recipe <<'R'
format: 1
recipe: far
experiments:
  count: { plugin: netstat, reuse: any, sweep: { net: [not-a-net, nor-this] } }
report:
  - { question: 1.1, points: 2, table: { rows: net, value: result params } }
R
sed 's/, nor-this//; s/plugin: netstat/plugin: other\/netstat.plugin/' far.recipe >near.recipe
ok orch run near.recipe -q
fails 2 orch plan far.recipe
says "unknown network 'not-a-net'"
ok orch report far.recipe
has '1 of 2 trials (count; net nor-this) cannot run here: plugin '"'netstat' rejects"
same "$(row not-a-net)" 'not-a-net 7'
ok orch report far.recipe --points
has 'partial'
fails 2 orch table --rows lr --value final --where 'lr = 77'
says 'no run that ended well matches the filter'

# rows and columns of numbers stand in their order, whenever they were run
ok orch try -x 'lr=0.2,10,0.03' -x 'n=100,9' -- sh -c 'echo lr_is={lr} # {n}'
ok orch table --rows lr --columns n --value lr_is --where 'recipe = try' --format csv
same "$(printf '%s\n' "$out" | cut -d, -f1 | tr '\n' ' ')" 'lr 0.03 0.2 10 '
has 'lr,9,100'

# what a recipe or a run is called never speaks to the terminal
esc=$(printf '\033]0;evil\007')
ok orch try -x "tag=${esc}red,plain" -- sh -c 'echo tagged=1 # {tag}'
says_not "$esc"
says 'tag=?]0;evil?red'
for words in 'table --rows tag --value tagged' 'ls --where tagged=1' 'best tagged --max --by tag' \
    'plot --x tag --y tagged --ascii' 'report esc.recipe'; do
    printf 'format: 1\nrecipe: esc\nabout: "a\\e[31m"\nexperiments: { nap: { plugin: sleep } }\nreport:\n  - { title: "t\\e[2J\\nu", text: "x\\e[31mred" }\n' >esc.recipe
    ok orch $words
    has_not "$(printf '\033')"
    says_not "$(printf '\033')"
done
has 't?[2J u'
has 'x?[31mred'
ok orch table --rows tag --value tagged --json
same "$(json rows.0.tag)" "${esc}red" 'the data itself is whole:'

# a page of somebody else's is not written over; one of ours is
mkdir site
echo 'my own page' >site/index.html
fails 2 orch report esc.recipe --out site
says 'was not written by orch'
same "$(ls site)" index.html
ok orch report esc.recipe --out ours
ok orch report esc.recipe --out ours

# infinite values and values that are no number: an answer, and no crash
cat >odd.plugin <<'P'
plugin: odd
command: [sh, -c, 'test ${n} = 2 && echo up inf || echo up ${n}; echo none nan']
parameters: { n: { type: int, default: 1 } }
metrics: { up: { better: max }, none: { better: min } }
P
cat >odd.recipe <<'R'
format: 1
recipe: odd
experiments:
  odd: { plugin: ./odd.plugin, sweep: { n: [1, 2, 3] }, repeat: 2 }
  alone: { plugin: ./odd.plugin }
report:
  - { title: finite, compare: { by: n, value: up } }
  - { title: winner, best: { by: n, value: up } }
  - { title: nobody, best: { by: n, value: none } }
  - { title: heat, plot: { x: n, y: repeat, z: up, kind: heat } }
R
ok orch run odd.recipe -q
ok orch report odd.recipe
has 'n 2: inf. Difference from the baseline: +inf, an infinite value cannot be tested'
has 'missing: no setting has a value of the metric'
has 'points: means of 2 repeats'
has_not 'also over n' # what an axis shows is not averaged over
ok orch report odd.recipe --json
same "$(json sections.#)" 4

# a full disk is said, whenever it was met; a reader that went away is not
if [ -w /dev/full ]; then
    orch report odd.recipe >/dev/full 2>full.txt
    same $? 3 'a full disk:'
    grep -q 'cannot write to standard output' full.txt || _fail 'nothing said'
fi
orch report odd.recipe --json 2>gone.txt | true
same "${PIPESTATUS[0]} $(cat gone.txt)" '0 ' 'a reader that went away:'
exit 0

# a run that serves two trials, of a parameter without effect or of equal experiments, counts once
mkdir once
cat >once/o.plugin <<'Y'
command: [sh, -c, 'echo "{\"got\": $1}"', sh, "${k}"]
parameters: { k: { type: int, default: 1 } }
metrics: { got: { better: none } }
Y
cat >once/o.recipe <<'R'
format: 1
recipe: once
experiments:
  one: { plugin: ./o.plugin, reuse: any, sweep: { k: [1, 2] } }
  two: { plugin: ./o.plugin, reuse: any, sweep: { k: [2, 3] } }
report:
  - { title: Both, table: { rows: [experiment, k], value: got } }
R
ok orch report once/o.recipe --runs
ok orch run once/o.recipe -q
ok orch report once/o.recipe --runs
has 'runs: 3 of 3'
