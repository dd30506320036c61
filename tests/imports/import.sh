# Tables of measurements: import, no second import of the same rows, export; every error of a file is reported.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
# values PATH...: as json, several at once
values() {
    local path list=
    for path; do list="$list ${path//./ }"$'\n'; done
    printf '%s' "$out" | python3 -c '
import json, sys
whole, found = json.load(sys.stdin), []
for path in sys.argv[1].splitlines():
    value = whole
    for key in path.split():
        value = len(value) if key == "#" else value[int(key) if isinstance(value, list) else key]
    found.append(value if isinstance(value, str) else json.dumps(value))
print(*found)' "$list"
}
cat >bench.csv <<'C'
accel,net,batch_per_gpu,gpus,prec,data,ms,ms_min,img_per_s
V100,resnet50,64,1,fp32,real,200.5,199,319
V100,resnet50,64,8,fp32,"synthetic, small",230,228.5,2226
K80,"vgg ""16""",32,1,fp16,,1.5e3,1490,21.3
C
cat >bench.md <<'M'
# bench
rows: 3
Source: example.org/bench, commit 12ab (2020-01-02), licence MIT (LICENSE). Cite them.
M
fails 3 orch measurements ls
map=--map=accel=gpu,batch_per_gpu=batch,prec=precision,ms=step_ms
# judged first: nothing is kept, not even a store
ok orch import bench.csv --target step_ms $map --dry-run
has "would add measurements 'bench': 3 rows"
[ ! -e .orch ] || _fail 'a store was made'
ok orch import bench.csv --target step_ms $map
has "added measurements 'bench': 3 rows, target step_ms (ms), 8 features"
says "reveal the target 'step_ms'"
says '--drop ms_min,img_per_s'
# again, by any name: nothing is added
ok orch import bench.csv --target step_ms $map --name other
has 'nothing added'
has "'bench'"
ok orch import bench.csv --target step_ms $map --json -q
same "$(values did name rows)" 'known bench 3'
ok orch measurements ls --json
same "$(values measurements.# measurements.0.name measurements.0.rows measurements.0.target measurements.0.unit)" '1 bench 3 step_ms ms'
same "$(json measurements.0.licence)" 'MIT (LICENSE)'
case $(json measurements.0.source) in 'example.org/bench, commit 12ab'*) ;; *) _fail source ;; esac
ok orch db info --json
same "$(values datasets samples)" '1 3'
ok orch measurements show bench
has 'V100, K80'
has '200.5 to 1500'
has 'not learned from'
has '"ms":"step_ms"'
# what is learned from: without what gives the target away, quotes and all
ok orch predictor rows --data bench --format csv
same "$out" 'gpu,net,batch,gpus,precision,data,step_ms
V100,resnet50,64,1,fp32,real,200.5
V100,resnet50,64,8,fp32,"synthetic, small",230
K80,"vgg ""16""",32,1,fp16,,1500'
ok orch predictor rows --data bench --target img_per_s --format csv
same "$(echo "$out" | head -2 | tail -1)" 'V100,resnet50,64,1,fp32,real,319'
fails 2 orch predictor rows --data bench --target gpu
says "hint: its target is 'step_ms'"
fails 2 orch predictor rows --data benhc
says "did you mean 'bench'?"
fails 2 orch predictor rows --data bench --where 'net = x'
says '--where'
# out and in again, elsewhere: the same digest; damaged on the way: refused
ok orch measurements export bench -o bench.set
ok orch measurements ls --json
digest=$(json measurements.0.sha256)
ok orch import bench.set --db other.db
has 'added'
ok orch measurements ls --db other.db --json
same "$(json measurements.0.sha256)" "$digest"
ok orch measurements export bench --db other.db
same "$out" "$(cat bench.set)" 'what was exported'
sed 's/^\[230,/[231,/' bench.set >bad.set
fails 2 orch import bad.set --db third.db
says 'digest'
head -3 bench.set >cut.set
fails 2 orch import cut.set
says 'at: cut.set:4'
fails 2 orch import bench.set --target ms
says 'names its own target'
ok orch measurements export bench --format csv
has 'vgg ""16""'
has 'ms_min'
# the same name with other rows is no accident to be passed over
sed 's/230,/231,/' bench.csv >b2.csv
fails 2 orch import b2.csv --target step_ms $map --name bench
says 'already exist with other rows'
ok orch measurements rm bench
fails 2 orch measurements show bench
says "no measurements 'bench'"
ok orch import b2.csv --target step_ms $map --name bench --drop ms_min,img_per_s --source here --licence CC0
says_not away
ok orch measurements show bench --json
same "$(values licence source)" 'CC0 here'
ok orch db check
has '1 table of measurements,'

# what may be wrong on the command line
fails 2 orch import bench.csv
says 'for example --target step_ms'
fails 2 orch import bench.csv --target mss
says "did you mean 'ms'?"
fails 2 orch import bench.csv --target ms --map accel=gqu
says "unknown feature 'gqu'"
says "did you mean 'gpu'?"
fails 2 orch import bench.csv --target ms --map accel=accel
says "it is called 'gpu' here"
fails 2 orch import bench.csv --target ms --map acel=gpu
says "no column 'acel'"
says "'accel'"
fails 2 orch import bench.csv --target ms --map accel
says 'COLUMN=FEATURE'
fails 2 orch import bench.csv --target ms --map batch_per_gpu=gpus
says "would both be called 'gpus'"
fails 2 orch import bench.csv --target ms --drop nat
says "did you mean 'net'?"
fails 2 orch import bench.csv --target ms --drop ms
says 'is the target and cannot be dropped'
fails 2 orch import bench.csv --target ms --name 'a b'
says 'name is not valid'
fails 3 orch import nowhere.csv --target ms
says nowhere.csv
for what in unit source licence; do
    fails 2 orch import bench.csv --target ms --json --$what "$(printf 'a\377')"
    says "the $what is not UTF-8"
    says "--$what TEXT"
done
ok orch import --features
has batch_total

# what may be wrong in a file: its place is named, or such rows are counted
bad() {
    printf "$1" >bad.csv
    fails 2 orch import bad.csv --target ms
    says "$2"
    [ -z "${3-}" ] || says "at: bad.csv:$3"
}
bad 'gpu,ms\nA,1\nA,1,2\n' 'record has 3 fields' 3:5
bad 'gpu,ms\nA,1\nA\n' 'record has 1 field' 3:1
bad '' 'table is empty'
bad 'gpu,ms\n' 'no rows' 2:1
bad 'gpu,gpu,ms\nA,A,1\n' "'gpu' occurs twice" 1:5
bad 'gpu,step\nA,1\n' "no column 'ms'"
bad 'gpu,,ms\nA,1,1\n' 'has no name' 1:1
bad 'gpu,ms\nA,1\nA,0\n' "above 0, not '0'" 3:3
bad 'gpu,ms\nA,-1\n' 'above 0' 2:3
bad 'gpu,ms\nA,nan\n' 'above 0' 2:3
bad 'gpu,ms\nA,1\nA,inf\n' 'finite' 3:3
bad 'gpu,ms\nA,1\nA,1e999\n' 'finite' 3:3
bad 'gpu,ms\nA,\n' 'is missing' 2:3
bad 'gpu,ms\nA,fast\n' "not 'fast'" 2:3
bad 'gpu,batch,ms\nA,many,1\n' 'not a number' 2:3
bad 'gpu,x,ms\nA,1,1\nA,NaN,1\n' 'not a finite number' 3:3
bad 'gpu,ms\nA\xff,1\n' 'not UTF-8: byte 0xff' 2:2
bad 'gpu,ms\nA\0,1\n' 'NUL'
echo '{"kind":"something"}' >bad.set
fails 2 orch import bad.set
says 'not the header of a data set'
says 'at: bad.set:1'
printf 'gpu,x,ms\nA,1,1\nB,2,0\nC,inf,3\nD,,4\nE,5,\n' >some.csv
ok orch import some.csv --target ms --skip-bad --json
same "$(values rows skipped)" '2 3'
says '3 bad rows left out; the first:'
says 'some.csv:3:5'
printf 'gpu,ms\nA,0\nA,\n' >none.csv
fails 2 orch import none.csv --target ms --skip-bad
says 'none of the 2 rows is valid'
printf 'mode,x,y,ms\ninf,1,,1\ninf,2,,1\ninf,?,,1\n' >odd.csv
ok orch import odd.csv --target ms
says "'?' first (row 3)"
says "column 'y' is empty"
ok orch measurements show odd
has 'inf'

# rows of runs: the first epoch warms up; a step, an epoch and a rate follow from each other
cat >fake.plugin <<'Y'
plugin: fake
version: 1.0.0
about: tells times
command: [sh, "-c", "for t in 9 ${t} ${t} ${t}; do echo epoch_time $$t; done"]
metrics_from: lines
parameters:
  t: {type: real, default: 2.0, help: seconds of an epoch}
  net: {type: string, default: resnet20, help: network}
metrics:
  epoch_time: {unit: s, better: min, step: epoch, help: time}
cost: {network: "${net}", precision: fp32, framework: "none 1", input: 3x32x32, images: "1000", batch: "50", workers: "1", epochs: "4", training: "true"}
Y
printf 'format: 1\nrecipe: f\nexperiments:\n  f: { plugin: ./fake.plugin, sweep: { t: [2.0, 4.0] } }\n  nap: { plugin: sleep, with: { seconds: 0 } }\n' >f.recipe
ok orch run f.recipe -j 1
ok orch predictor rows --json --runs
says '2 rows of runs'
says '1 that declare no cost'
same "$(values rows.# rows.0.net rows.0.batch rows.0.images rows.0.img rows.0.mode)" '2 resnet20 50.0 1000.0 32.0 train'
same "$(values rows.0.step_ms rows.1.step_ms)" '100.0 200.0' 'steps'
run=$(json rows.1.run)
[ -n "$(json rows.0.gpu)" ] && [ "$(json rows.0.threads)" != null ] || _fail 'where it ran'
ok orch predictor rows --target epoch_s --json
same "$(values rows.0.epoch_s rows.1.epoch_s)" '2.0 4.0' 'epochs'
ok orch predictor rows --target images_per_s --json
same "$(values rows.0.images_per_s rows.1.images_per_s)" '500.0 250.0' 'rates'
ok orch predictor rows --target wall_s --where 't > 3' --json
same "$(json rows.#)" 1
fails 2 orch predictor rows --target step
says "did you mean 'step_ms'?"
fails 2 orch predictor rows --where 'tt > 3'
says tt
ok orch rm "$run"
ok orch predictor rows --json
same "$(json rows.#)" 1 'rows without the removed run'
