# Plugin onnxrun with a stand-in for ONNX Runtime: latency, comparison, artifacts, and what ends a trial: a file, an
# engine or its outputs that are not as they should be.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
PYTHONPATH=$SOURCE/tests/cli python3 -m onnx_files .
export ORCH_ONNXRUNTIME=$BUILD/tests/plugins/ort/libonnxruntime.so
cat >a.recipe <<'R'
format: 1
recipe: a
about: onnxrun with a stand-in
experiments:
  one: { plugin: onnxrun, with: { onnx: small.onnx, count: 10, repeats: 7, batch: 4, threads: 3 } }
  two: { plugin: onnxrun, with: { onnx: small.onnx, samples: "${one.outputs}", batch: 1 } }
  real: { plugin: onnxrun, with: { onnx: large.onnx, images: synthetic, count: 6 } }
R
# shown EXPERIMENT: its last run as JSON in $out
shown() {
    ok orch ls --json --where "experiment = $1"
    ok orch show "$(json runs.0.key)" --json
}
# result NAME: its value in $out
result() { python3 -c 'import json, sys
value = json.load(sys.stdin)["results"].get(sys.argv[1])
print("none" if value is None else "%g" % value)' "$1" <<<"$out"; }

# ---- what a trial measures and leaves
ok orch run a.recipe one two
shown one
same "$(result used_threads)" 3
same "$(result opset)" 13
same "$(result not_finite)" 0
same "$(result random_absolute)" none "there is nothing to compare with"
same "$(json metrics.0.points)" 7 'timed runs'
has '0.1 (tiny)'
python3 -c 'import json, sys
r = json.load(sys.stdin)["results"]
assert 0 < r["latency_low"] <= r["latency"] <= r["latency_high"], r
assert abs(r["throughput"] - 4 / (r["latency"] / 1e3)) < 1e-6 * r["throughput"], r' <<<"$out" || _fail 'latencies'
key=$(json key)
ok orch show "$key" --artifact answers
same "$(head -n 1 <<<"$out")" 'inputs,number,rank,class,value'
same "$(wc -l <<<"$out")" 31 'a line for each of 3 classes of 10 inputs'
has 'random,9,1,'
has ',elk,' # a name of the file's metadata
# the largest value comes first, and the sums are those of the inputs
orch show "$key" --artifact outputs >one.safetensors || _fail 'no outputs'
python3 - <<'P' || _fail 'the outputs are not the sums of the inputs'
import json, struct
data = open("one.safetensors", "rb").read()
size = struct.unpack("<Q", data[:8])[0]
head = json.loads(data[8:8 + size])
def array(name):
    begin, end = head[name]["data_offsets"]
    return head[name]["shape"], struct.unpack("<%df" % ((end - begin) // 4), data[8 + size + begin:8 + size + end])
shape, x = array("random/input")
assert shape == [10, 1, 4, 4], shape
shape, y = array("random/output/y")
assert shape == [10, 3], shape
for i in range(10):
    for j in range(3):
        assert abs(y[3 * i + j] - sum(x[16 * i + j:16 * (i + 1):3])) < 1e-5
assert abs(sum(x) / 160) < 0.3 and 0.7 < sum(v * v for v in x) / 160 < 1.4, "normal numbers"
P
# equal outputs, whatever the batch
shown two
for name in absolute relative tolerance; do same "$(result random_$name)" 0 "$name"; done
same "$(result random_same_top)" 1
ok orch run a.recipe two --force -s count=10 -s batch=3
shown two
same "$(result random_absolute)" 0 'batches of 3 from 10 inputs'
# a difference of 0.5 in each value
export TINY_ORT_ADD=0.5
ok orch run a.recipe two --force
shown two
same "$(result random_absolute | cut -c 1-4)" 0.5
python3 -c 'import sys; r, t = float(sys.argv[1]), float(sys.argv[2]); assert r > t > 0.05, (r, t)' "$(result random_relative)" "$(result random_tolerance)" ||
    _fail 'relative difference and tolerance'
same "$(result random_same_top)" 1 'all three moved alike'
unset TINY_ORT_ADD
# images of a set, with their labels
ok orch run a.recipe real -s input=1x28x28 -s data_root=/nowhere --force
shown real
[ "$(result accuracy)" != none ] || _fail 'no accuracy'

# ---- what ends a trial is named
# refused TEXT OPTION...: a run with these options fails and prints TEXT
refused() {
    local text=$1
    shift
    fails 1 orch run a.recipe one --force "$@"
    out=$out$err
    has "$text"
}
refused 'truncated' -s onnx=cut.onnx
refused "cycle.onnx': node 0 (Add) uses 'b', which no earlier node makes" -s onnx=cycle.onnx
refused "two.onnx' has 2 inputs" -s onnx=two.onnx
refused "input 'x' is not an array of floats" -s onnx=ints.onnx
refused "no node makes the output 'y'" -s onnx=nothing.onnx
refused 'is not an ONNX model' -s onnx=text.onnx
refused 'its size is open' -s onnx=open.onnx
refused "input 'x' is 1x1x4x4: a batch of 4 does not fit" -s onnx=fixed.onnx
refused 'parameter input does not fit' -s input=3x4x4
refused 'another number of axes' -s input=4x4
refused 'none.onnx' -s onnx=none.onnx
refused "array 'random/input' has shape [10, 1, 4, 4], which does not fit input 'x'" -s onnx=large.onnx -s samples=one.safetensors
refused "text.onnx': the file is neither a PyTorch file nor a safetensors file" -s samples=text.onnx
# fp16 looks values up by their names, and writes a tensor again as the file has it
refused "unnamed.onnx' cannot be converted to fp16: a value has no name" -s onnx=unnamed.onnx -s precision=fp16
refused "field.onnx' cannot be converted to fp16: a tensor has a field that ONNX does not define ('w')" -s onnx=field.onnx -s precision=fp16
truncate -s 2200M huge.onnx
fails 2 orch run a.recipe one -s onnx=huge.onnx
out=$out$err
has "huge.onnx' has 2.1 GiB, but a protobuf file has at most 2 GiB"
rm huge.onnx
TINY_ORT_OPEN='Frobnicate(13) is not a registered function/op' refused "ONNX Runtime 0.1 (tiny) cannot open"
has 'Frobnicate(13) is not a registered'
TINY_ORT_RUN='out of memory' refused 'cannot run'
has 'out of memory'
TINY_ORT_HALF=yes refused "the first axis of output 'y' is not the batch of 4"
# NaN: the answers are kept
TINY_ORT_ADD=nan refused "computed 30 values that are NaN or infinite; the first value is in output 'y'"
shown one
same "$(json state)" failed
same "$(result not_finite)" 30
has '"outputs"'

# ---- an engine that is not there, or of another version, is no failure
skipped() {
    local text=$1
    ok orch run a.recipe one --force
    out=$out$err
    has 'skipped'
    has "$text"
}
TINY_ORT_VERSION=7 skipped 'is ONNX Runtime 0.1 (tiny) has no interface version 11'
has 'pip install onnxruntime'
ORCH_ONNXRUNTIME=$PWD/nothing.so skipped "cannot load '$PWD/nothing.so'"
ORCH_ONNXRUNTIME=$PWD/a.recipe skipped 'cannot load'

# ---- 'orch doctor' names the engines
_run orch doctor --json
has "$ORCH_ONNXRUNTIME"
has 'OpenCV adapter'
ORCH_ONNXRUNTIME=$PWD/nothing.so _run orch doctor --json
has 'pip install onnxruntime'

# ---- parameters that do not go together
fails 2 orch check a.recipe -s two.images=synthetic
out=$out$err
has "parameter 'samples' excludes 'images'"
fails 2 orch check a.recipe -s one.net=lenet5
out=$out$err
has "parameters 'onnx' and 'net' need 'weights'"
fails 2 orch check a.recipe -s one.weights=one.safetensors
out=$out$err
has "parameter 'weights' needs 'net'"
printf 'format: 1\nrecipe: n\nexperiments:\n  n: { plugin: onnxrun }\n' >n.recipe
fails 2 orch check n.recipe
out=$out$err
has 'there is no network to run'
# what cannot be exported is named before the engine opens anything
refused() {
    local text=$1
    shift
    fails 1 orch run n.recipe --force "$@"
    out=$out$err
    has "$text"
}
refused "resnet20" -s net=resnet21x
refused 'is not the shape of an image' -s net=lenet5 -s input=28x28x28x28
refused 'the weights of' -s net=lenet5 -s weights=one.safetensors
# another file of the same name is another trial
ok orch run a.recipe one --force
cp large.onnx small.onnx
ok orch plan a.recipe one
has 'onnx changed'

# ---- weights in another file are an input before the first run, and what was read is listed, in a folder of any name
mkdir onnx
ok orch net export lenet5 --onnx onnx/m.onnx --external-data -q
cat >d.recipe <<'R'
format: 1
recipe: d
experiments:
  one: { plugin: onnxrun, with: { onnx: onnx/m.onnx, count: 2, repeats: 1, warmup: 0 } }
R
sleep 0.1 # older than the trial
ok orch run d.recipe
ok orch show @last
has '  m.onnx.data '
has '  onnx/m.onnx '
printf x >>onnx/m.onnx.data
ok orch plan d.recipe
has 'm.onnx.data changed'
