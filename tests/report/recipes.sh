# Reports of the shipped recipes contain every part of each problem with its points. Experiments without training are
# run, and their results equal the published numbers.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
cp -r "$SOURCE/recipes" .
for plugin in train finetune batchaug semisup netstat judge layerbench scaling allreduce; do
    orch plugin show $plugin >/dev/null 2>&1 || skip "plugin $plugin is not built here"
done
# Each part stands in the report of an empty store, with the points of the assignment.
parts() { # RECIPE PART=POINTS...
    local recipe=$1
    shift
    ok orch report "recipes/$recipe.recipe" --json
    python3 - "$SCRATCH/out" "$@" <<'P' || _fail "parts of $recipe"
import json, sys
points, kinds = {}, {}
for section in json.load(open(sys.argv[1]))["sections"]:
    part = section["question"]
    points[part] = points.get(part, 0) + (section["points"] or 0)
    kinds.setdefault(part, []).append(section["kind"])
wanted = dict(part.split("=") for part in sys.argv[2:])
assert {p: float(v) for p, v in wanted.items()} == points, points
assert all(kinds[part] for part in wanted)
P
}
parts hw3 1.1=4 1.2=4 1.3=2 1.4=5 2.1=5 2.2=5 2.3=2 2.4=5 2.5=8 2.6=5 3.1=5 3.2=10 3.3=5 3.4a=3 3.4b=4 3.4c=4 3.4d=4 4.1=6 4.2=4 4.3a=5 4.3b=5
parts hw4 1.1a=4 1.1b=5 1.1c=6 1.2a=8 1.2b=2 2.1=2 2.2a=2 2.2b=2 2.3a-c=12 2.3d=2 3.1a=10 3.1b=2 3.2=3 3.3=4 3.4a=3 3.4b=6 3.4c=2 4.1=12 4.2=6 4.3=7
parts lab5 1.1=3 1.2=5 1.3=4 1.4=3 2.1=3 2.2=8 2.3=2 2.4=2 3.1=4 3.2=6 3.3=6 3.4=4
# What was not run is said to be missing, with the command; what is to be explained is left alone.
ok orch report recipes/hw4.recipe --only 1.2
has missing
has 'orch run recipes/hw4.recipe'
has 'Which approach of 1.2b is the best'
ok orch report recipes/hw4.recipe -p course --only 4
has 'missing' # whether its data sets are here or not

ok orch run recipes/hw3.recipe p3 -q
# cells N: the rows of the tables of section N, cells in the order of their headers' names, joined by '|'
cells() {
    python3 - "$SCRATCH/out" "$1" <<'P'
import json, sys
section = json.load(open(sys.argv[1]))["sections"][int(sys.argv[2])]
for block in section["blocks"]:
    for row in block.get("rows", []):
        print("|".join(str(cell) for cell in row.values()))
P
}
holds() { case $rows in *"$1"*) ;; *)
    out=$rows
    _fail "the table lacks: $1"
    ;;
esac }
ok orch report recipes/hw3.recipe --only 3.1 --json
rows=$(cells 1)
holds '(11*11*3)*96 + 96 = 34,944'
holds '(5*5*48)*256 + 256 = 307,456'
holds '4096*1000 + 1000 = 4,097,000'
holds 'sum = 60,965,224'
ok orch report recipes/hw3.recipe --only 3.2 --json
rows=$(cells 1)
same "$(printf '%s\n' "$rows" | wc -l)" 26 'rows of table 1' # input, 16 convolutions, 5 pools, 3 dense layers, their sum
holds '224*224*3 = 150,528|Input|0'
holds '224*224*64 = 3,211,264|CONV3-64|(3*3*3)*64 = 1,728'
holds '7*7*512 = 25,088|POOL2|0'
holds '4,096|FC-4096|25088*4096 = 102,760,448'
holds 'sum = 16,542,184|total|sum = 143,652,544'
ok orch report recipes/hw3.recipe --only 3.3
has '1 + (5-1)*1 + (5-1)*1 + (5-1)*1 = 13'
ok orch report recipes/hw3.recipe --only 3.4
has '(1*1*256)*128*32*32 = 33,554,432'
has 'sum = 1,115,684,864'
has 'sum = 397,410,304'
has '1,115,684,864 / 397,410,304 multiply-adds = 2.81: 2.81 times less, a saving of 64.4 %'
has_not 'inception-naive: times_less'
python3 - "$SCRATCH/out" <<'P' || _fail 'outputs of the modules'
import sys
rows = [line.split() for line in open(sys.argv[1])]
assert ["inception-naive", "32", "32", "672"] in rows and ["inception-reduced", "32", "32", "480"] in rows
P
ok orch run recipes/lab5.recipe vgg19 single double -q
ok orch report recipes/lab5.recipe vgg19 single double
has 'sum = 19,632,062,464'
has '100 * 19,508,428,800 / 19,632,062,464 = 99.37 %'
has 'single with vgg16, multiply-add counted as 1: time_at_peak = 1000 * operations / (peak_tflops * 1000000000000) = 1000 * 15,503,498,216 / (8.740 * 1,000,000,000,000) = 1.774 ms'
has 'double with vgg16, multiply-add counted as 1: time_at_peak = 1000 * operations / (peak_tflops * 1000000000000) = 1000 * 15,503,498,216 / (2.910 * 1,000,000,000,000) = 5.328 ms'
has_not missing
