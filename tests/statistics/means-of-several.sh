# Means over runs of several settings say so, in the same words: 'orch table', 'orch best --by', 'orch plot --by', the
# items of a report and the groups of the page, of swept values, of values set for a whole sweep, and of commands.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
cat >t.py <<'P'
import sys
lr, epochs, seed = float(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
print("acc", 0.5 + lr + 0.01 * epochs + seed % 7 / 1000)
P
echo .orch >.gitignore
git add -A
git commit -qm one
for epochs in 3 9; do
    ok orch try -x lr=0.1,0.2 -s epochs=$epochs --repeat 2 -- python3 t.py '{lr}' '{epochs}' '{seed}'
done
ok orch table --rows lr --value acc
says 'means include runs that differ in epochs'
ok orch table --rows lr --columns epochs --value acc
says_not 'means include runs that differ in'
ok orch table --rows lr --value acc --format csv
says 'means include runs that differ in epochs'
ok orch best acc --max --by lr
has 'note: means include runs that differ in epochs'
ok orch best acc --max --by lr --json
same "$(of_json 'it["rankings"][0]["means_also_over"]')" '["epochs"]' 'names in JSON'
ok orch best acc --max
has_not 'means include runs that differ in'
ok orch best acc --max --by epochs
has 'note: means include runs that differ in lr'
ok orch plot --x lr --y acc --by experiment
out=$(tr '\n' ' ' <<<"$out") # a note is wrapped
has 'means include runs that differ in epochs'
ok orch plot --x lr --y acc
has_not 'means include runs that differ in'
ok orch plot --kind heat --x lr --y experiment --z acc
has 'means include runs that differ in epochs'
# several commands
for lr in 0.3 0.4; do
    ok orch try --name typed -- python3 t.py $lr 1 0
done
ok orch table --rows experiment --value acc --where 'experiment = typed'
says 'means include runs that differ in command'
# a report
cat >f.plugin <<'Y'
plugin: f
command: [sh, -c, 'echo score $$1$$2', sh, "${a}", "${b}"]
parameters: { a: { type: int }, b: { type: int, label: size of b } }
metrics: { score: { better: max } }
Y
cat >r.recipe <<'R'
format: 1
recipe: r
experiments:
  one: { plugin: ./f.plugin, sweep: { a: [1, 2], b: [1, 2] }, repeat: 2 }
  two: { plugin: ./f.plugin, with: { b: 7 }, sweep: { a: [1, 2] }, repeat: 2 }
report:
  - { title: averaged, table: { rows: a, value: score, experiments: [one] } }
  - { title: apart, table: { rows: a, columns: b, value: score } }
  - { title: chosen, best: { by: b, value: score, experiments: [one] } }
  - { title: both, table: { rows: a, value: score } }
R
ok orch run r.recipe -q
ok orch report r.recipe --json
texts() { python3 -c '
import json, sys
def texts(value):
    if isinstance(value, str):
        yield value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else []:
        yield from texts(part)
for section in json.load(sys.stdin)["sections"]:
    if section["title"] == sys.argv[1]:
        print(*(t for t in texts(section) if "means include" in t), sep="\n")' "$1" <<<"$out"; }
same "$(texts averaged)" 'means include runs that differ in size of b'
same "$(texts apart)" ''
same "$(texts chosen)" 'means include runs that differ in a'
same "$(texts both)" 'means include runs that differ in size of b, experiments'
# a swept name that only the second experiment has
cat >r2.recipe <<'R'
format: 1
recipe: r2
experiments:
  one: { plugin: ./f.plugin, with: { b: 7 }, sweep: { a: [1, 2] } }
  two: { plugin: ./f.plugin, sweep: { a: [1, 2], b: [8] } }
report:
  - { title: both, table: { rows: a, value: score } }
R
ok orch run r2.recipe -q
ok orch report r2.recipe --json
same "$(texts both)" 'means include runs that differ in experiments, size of b'
# settings of several experiments
ok orch best score --max --across --by a --where 'recipe = r'
has 'note: means include runs that differ in experiments, b'
ok orch best score --max --across --by a --where 'recipe = r' --json
same "$(of_json 'it["rankings"][0]["means_also_over"]')" '["experiment","b"]' 'experiments in JSON'
ok orch best score --max --by a,experiment --across --where 'recipe = r and b = 7'
has_not 'means include runs that differ in'
# the page
orch serve --help >/dev/null 2>&1 || exit 0
orch serve --read-only --port 0 >served 2>serve.err &
server=$!
trap 'was=$?; kill "$server" 2>/dev/null; cleanup $was' EXIT
await -s served serve.err
# legend BY [VALUE [WHERE]]
legend() { python3 -c 'import json, sys, urllib.request; print(json.load(urllib.request.urlopen(sys.argv[1]))["legend"])' \
    "$(head -n 1 served | sed 's,/*$,,')/api/v1/groups?values=${2:-acc}&where=${3:-experiment%20%21%3D%20typed%20and%20epochs%20%3E%200}&by=$1"; }
same "$(legend param.lr)" 'a value like 0.5 (0.4..0.6) is a mean, with the lowest and the highest run; means include runs that differ in epochs' 'the page'
same "$(legend param.lr,param.epochs)" 'a value like 0.5 (0.4..0.6) is a mean, with the lowest and the highest run' 'the page, apart'
case $(legend param.a score recipe%20%3D%20r) in
*'means include runs that differ in experiments, b') ;;
*) _fail 'the page does not name experiments' ;;
esac
