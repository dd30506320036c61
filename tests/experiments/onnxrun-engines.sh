# Plugin onnxrun with the engines of this machine: the outputs of a network are those that it computes, for every batch; a
# detector's boxes, their score and their picture; an operator that an engine lacks, and an opset that is too new.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
export PYTHONPATH=$SOURCE/tests/cli
python3 -m onnx_files .
cat >a.recipe <<'R'
format: 1
recipe: a
about: onnxrun with every engine
experiments:
  small: { plugin: onnxrun, with: { onnx: small.onnx, count: 10, repeats: 3 }, sweep: { engine: [onnxruntime, opencv], batch: [1, 4] } }
  boxes: { plugin: onnxrun, with: { onnx: colours.onnx, samples: squares.safetensors, batch: 2, repeats: 3 }, sweep: { engine: [onnxruntime, opencv] } }
  tenth: { plugin: onnxrun, with: { onnx: tenth.onnx, repeats: 1 } }
  half: { plugin: onnxrun, with: { onnx: tenth.onnx, precision: fp16, samples: "${tenth.outputs}", repeats: 1 } }
  fault: { plugin: onnxrun, with: { onnx: strange.onnx, repeats: 1 }, sweep: { engine: [onnxruntime, opencv] } }
  newest: { plugin: onnxrun, with: { onnx: new.onnx, repeats: 1, engine: onnxruntime } }
report:
  - { title: Boxes, images: { artifact: picture, by: engine, experiments: [boxes] } }
R
# keys FILTER: the runs, oldest first
keys() {
    ok orch ls --json --reverse --where "$1"
    python3 -c 'import json, sys; print(*[r["key"] for r in json.load(sys.stdin)["runs"]])' <<<"$out"
}
ok orch run a.recipe small boxes
ran=
for engine in onnxruntime opencv; do
    if [ "$(keys "engine = $engine and state = skipped")" ]; then
        ok orch show "$(keys "engine = $engine and state = skipped" | cut -d ' ' -f 1)" --json
        echo "skipped: engine $engine: $(json reason | tr '\n' ' ')"
    else
        ran="$ran $engine"
    fi
done
[ "$ran" ] || exit 77

# ---- outputs
for key in $(keys 'experiment = small and state = ok'); do
    orch show "$key" --artifact outputs >small.safetensors || _fail 'no outputs'
    python3 - <<'P' || _fail "the outputs of $key are not what the network computes"
import onnx_files
arrays = onnx_files.read_safetensors("small.safetensors")
(shape, x), (_, y) = arrays["random/input"], arrays["random/output/y"]
assert shape == [10, 1, 4, 4], shape
for i in range(10):
    for got, wanted in zip(y[3 * i:3 * i + 3], onnx_files.small_outputs(x[16 * i:16 * i + 16])):
        assert abs(got - wanted) < 1e-5 * (1 + abs(wanted)), (i, got, wanted)
P
done

# ---- boxes
for key in $(keys 'experiment = boxes and state = ok'); do
    ok orch show "$key" --json
    same "$(json results.map)" 1.0 'mean average precision'
    ok orch show "$key" --artifact answers
    has 'real,0,red,0.99999,0.05000,0.05000,0.20000,0.20000'
    has 'real,1,green,0.99999,0.80000,0.30000,0.95000,0.45000'
    same "$(grep -c '^real' <<<"$out")" 5 'boxes of the images'
    orch show "$key" --artifact picture >picture.png || _fail 'no picture'
    python3 - <<'P' || _fail "picture of $key"
import struct
with open("picture.png", "rb") as file:
    head = file.read(24)
assert head[:8] == b"\x89PNG\r\n\x1a\n"
width, height = struct.unpack(">II", head[16:24])
assert 600 < width < 800 and 600 < height < 800, (width, height) # two rows of two images of over 300 pixels
P
done
ok orch report a.recipe --html page.html
grep -q 'data:image/png' page.html || _fail 'no picture in the report'
ok orch report a.recipe
has '4 images: found 3 of 3 objects of red, 2 of 2 objects of green; no box is wrong'
engine=${ran##* }
ok orch run a.recipe boxes --force -s "engine=$engine" -s samples=bare.safetensors
key=$(keys 'experiment = boxes and state = ok' | awk '{ print $NF }')
ok orch show "$key" --json
same "$(json results.map 2>/dev/null)" '' 'no objects, no score'
fails 1 orch run a.recipe boxes --force -s "engine=$engine" -s samples=beyond.safetensors
out=$out$err
has "array 'real/objects': object 0 is not in order, or its image, label or box is not valid"

# ---- what an engine refuses, in its own words
for engine in $ran; do
    fails 1 orch run a.recipe fault --force -s "engine=$engine"
    out=$out$err
    has "strange.onnx'"
    has Frobnicate
done
case $ran in *opencv*)
    ok orch run a.recipe half --force -s engine=opencv -s samples=squares.safetensors
    out=$out$err
    has 'skipped'
    has 'only on ARM and on GPUs'
    ;;
esac
case $ran in *onnxruntime*)
    fails 1 orch run a.recipe newest
    out=$out$err
    has "new.onnx'"
    has 'pset 99 is under development'
    # fp16: a weight of 0.1 becomes 0.09998, all others are exact
    ok orch run a.recipe half
    ok orch show "$(keys 'experiment = half and state = ok')" --json
    python3 -c 'import sys
absolute, tolerance = float(sys.argv[1]), float(sys.argv[2])
assert 1e-6 < absolute < 1e-4 and absolute < tolerance < 0.01, (absolute, tolerance)' "$(json results.random_absolute)" "$(json results.random_tolerance)" ||
        _fail 'differences of fp16'
    # the converted file has 16-bit weights, and is a valid file for the official checker where that is installed
    orch show "$(json key)" --artifact onnx >half.onnx || _fail 'no converted file'
    [ "$(wc -c <half.onnx)" != "$(wc -c <tenth.onnx)" ] || _fail 'the same file'
    if /usr/bin/python3 -c 'import onnx' 2>/dev/null; then
        /usr/bin/python3 -c 'import onnx; m = onnx.load("half.onnx"); onnx.checker.check_model(m, full_check=True)
assert {t.data_type for t in m.graph.initializer} == {10}' || _fail 'the converted file is not valid'
    else
        echo 'skipped: no python3-onnx to check the converted file'
    fi
    ;;
esac
