# Parts of the assignments that need neither training nor a GPU: workings, published counts, PALEO's practical
# throughput and its ratio to the peak for both conventions of a multiply-add.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
cp -r "$SOURCE/recipes" .
orch plugin show train >/dev/null 2>&1 || skip 'plugin train is not built here'
row() { printf '%s\n' "$out" | tr -s ' ' | sed 's/^ //' | grep -m1 "^$1" || _fail "no line that begins with '$1'"; }

# hw3 3.1: filters with stride, padding and sizes; 3.3: the argument; 3.4b: the sum of the channels
ok orch run recipes/hw3.recipe p3 -q
ok orch report recipes/hw3.recipe --only 3.1
same "$(row 'CONV11-96')" 'CONV11-96 11x11 4 0 3x227x227 (227 - 11 + 2*0)/4 + 1 = 55 (11*11*3)*96 + 96 = 34,944'
same "$(row 'CONV5-256')" 'CONV5-256 5x5 1 2 96x27x27 (27 - 5 + 2*2)/1 + 1 = 27 (5*5*48)*256 + 256 = 307,456'
same "$(row 'POOL3')" 'POOL3 3x3 2 0 96x55x55 (55 - 3 + 2*0)/2 + 1 = 27 0'
has 'sum = 60,965,224'
has '96/2 = 48'
ok orch report recipes/hw3.recipe --only 3.2
has 'Activations: 16,542,184. Weights: 143,652,544' # the sums of its table
ok orch report recipes/hw3.recipe --only 3.3
has 'R(N) = R(N-1) + (F - 1)'
has 'NF - N + 1'
has '3*5 - 3 + 1 = 13'
ok orch report recipes/hw3.recipe --only 3.4b
has 'output_channels = 128 + 192 + 96 + 256 = 672'
has 'output_channels = 128 + 192 + 96 + 64 = 480'
has_not times_less
ok orch report recipes/hw3.recipe --only 3.4c
has_not 'output_channels ='

# hw4 3.3 and 3.4: the same in both profiles, and complete at full size
for profile in laptop course; do
    ok orch run recipes/hw4.recipe -p $profile vgg19 peak -q
    ok orch report recipes/hw4.recipe -p $profile --points --json
    python3 - "$SCRATCH/out" <<'P' || _fail "points of $profile"
import json, sys
state = {p["part"]: p["state"] for p in json.load(open(sys.argv[1]))["parts"]}
assert all(state[part] == "complete" for part in ("3.3", "3.4a", "3.4b", "3.4c")), state
P
done
ok orch report recipes/hw4.recipe --only 3.3
has '(3*3*64)*64*224*224 = 1,849,688,064'
has 'sum = 19,632,062,464'
has '100 * 19,508,428,800 / 19,632,062,464 = 99.37 %'
ok orch report recipes/hw4.recipe --only 3.4a
same "$(row 'resnet50-v1 3,9' | cut -d' ' -f2-3)" '3,922,000,000 0.4487'
same "$(row 'resnet50-v1 1' | cut -d' ' -f3-4)" '3,916,830,696 0.4481'
has 'published_operations = 3,922,000,000 (Lu et al. 2017, table 6); counted here: 3,916,830,696'
ok orch report recipes/hw4.recipe --only 3.4b --json
same "$(json sections.0.blocks.1.rows.#)" 12
python3 - "$SCRATCH/out" <<'P' || _fail 'practical throughput'
import json, sys
rows = json.load(open(sys.argv[1]))["sections"][0]["blocks"][1]["rows"]
vgg = [r for r in rows if r["network"] == "vgg16"]
assert [r["ppp"] for r in vgg] == [1, 0.62]
assert abs(vgg[0]["ms"] / vgg[1]["ms"] - 0.62) < 1e-6 and abs(vgg[1]["ms"] - 11.03) < 0.01, vgg
assert all(abs(r["images/s"] - 1000 / r["ms"]) < 1e-6 * r["images/s"] for r in rows)
P
ok orch paleo --net vgg16 --gpu paleo:K80 --batch 1 --json
command_ms=$(json steps.0.fwd_ms)
case $command_ms in 11.03*) ;; *) _fail "orch predict gives $command_ms ms" ;; esac
ok orch report recipes/hw4.recipe --only 3.4c --json
python3 - "$SCRATCH/out" <<'P' || _fail 'ratios'
import json, sys
rows = json.load(open(sys.argv[1]))["sections"][0]["blocks"][1]["rows"]
pairs = [(r["network"], r["practical_of"]) for r in rows[::2]]
assert pairs == [("vgg16", "vgg16"), ("googlenet-bvlc", "googlenet-bvlc"), ("googlenet-bvlc", "paleo:inception_v3"), ("resnet50-v1", "paleo:resnet50"), ("resnet50-v1", "resnet50-v1")], pairs
for r in rows:
    for k, operations in ((1, {"vgg16": 15503498216}), (2, {"vgg16": 30973762536})):
        peak = r["peak_images/s,_multiply-add_=_%d" % k]
        assert abs(r["ratio_%%,_multiply-add_=_%d" % k] - 100 * r["practical_images/s"] / peak) < 1e-6
        if r["network"] in operations: assert abs(peak - 8.74e12 / operations[r["network"]]) < 1e-6 * peak, (peak, k)
P

# lab5 1.4: the time of the published count, and of the count made here, each named
ok orch run recipes/lab5.recipe single double -q
ok orch report recipes/lab5.recipe --only 1.4
same "$(row 'resnet50-v1 0')" 'resnet50-v1 0.4487 2228.5 1.348 742.0'
same "$(row 'resnet50-v1 1')" 'resnet50-v1 1 0.4481 2231.4 1.346 742.9'
has 'single with resnet50-v1, multiply-add counted as 1: published_operations = 3,922,000,000 (Lu et al. 2017, table 6)'

# what cannot be answered is said, and what is misspelt is found
sed -i 's/vgg16, googlenet-bvlc, "paleo:inception_v3", .*resnet50-v1\], gpu: "paleo:K80"/vgg61], gpu: "paleo:K80"/' recipes/hw4.recipe
ok orch report recipes/hw4.recipe --only 3.4b
has "unknown network 'vgg61'"
sed -i 's/vgg61\], gpu: "paleo:K80", batch/vgg16], gpu: "K08", batch/' recipes/hw4.recipe
ok orch report recipes/hw4.recipe --only 3.4b
has "unknown GPU 'K08'"
sed -i 's/gpu: "K08", batch: 1/gpus: K80, batch: 1/' recipes/hw4.recipe
fails 2 orch check recipes/hw4.recipe
says "'gpus'"
exit 0
