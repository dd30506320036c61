# The roofline of a network: the device's roofs as measured here, otherwise nominal; measured layers, and the lower
# bound of the others. With a stand-in for LibTorch whose passes take a known time.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
export ORCH_TORCH=$BUILD/tests/plugins/tiny-torch.so TINY_TORCH_LOG=$SCRATCH/torch.log
cat >r.recipe <<'R'
format: 1
recipe: r
experiments:
  layers: { plugin: layerbench, with: { net: lenet5, net_batch: 8, by_layer: true, peak: false, warmup: 1, repeats: 3 } }
report:
  - { question: "1", title: Where the layers lie, roofline: { experiments: layers } }
R
# before anything was measured
ok orch report r.recipe
has '1 of 1 trials is not run'
ok orch paleo --roofline --net resnet18 --gpu V100 --batch 64 --chart nominal.svg
says 'nominal.svg (0 measured layers)'
grep -q 'roofs: nominal, from the data sheet' nominal.svg || _fail 'the chart does not say that its roofs are nominal'
for text in 'memory 900 GB/s' 'fp32 15.67 TFLOP/s' 'fp16 125 TFLOP/s' 'arithmetic intensity (FLOP/byte)' 'rate (TFLOP/s)' 'batchnorm'; do
    grep -q "$text" nominal.svg || _fail "the chart lacks: $text"
done
fails 2 orch paleo --net resnet18 --gpu V100 --chart x.svg
says "needs '--roofline'"
fails 2 orch paleo --roofline --net resnet18 --gpu V100 --chart x.gif
says .gif
fails 2 orch paleo --roofline --net lenet5 --gpu here --chart x.svg
says 'orch doctor --bench'
# the layers of one network
ok orch run r.recipe -q
ok orch report r.recipe
has "run 'orch doctor --bench'"
# this machine's ceilings, as 'orch doctor --bench' leaves them
key=$(python3 -c 'import sqlite3; print(sqlite3.connect(".orch/results.db").execute("SELECT key FROM machine").fetchone()[0])')
mkdir -p "$XDG_DATA_HOME/orch/devices"
cat >"$XDG_DATA_HOME/orch/devices/$key.yaml" <<Y
machine: "$key"
measured: "2026-11-20 10:00:00"
gpus:
  - { name: thishost, arch: "a processor", fp32_tflops: 0.1, fp64_tflops: 0.05, bandwidth_gbs: 20, memory_gb: 8 }
ceilings:
  - {"device":"cpu","what":"product","how":"fp32","threads":1,"unit":"FLOP/s","best":6e10,"median":6e10,"spread":0.01,"samples":9,"with":"x"}
  - {"device":"cpu","what":"product","how":"fp32","threads":2,"unit":"FLOP/s","best":1e11,"median":1e11,"spread":0.01,"samples":9,"with":"x"}
  - {"device":"cpu","what":"product","how":"bf16","threads":2,"unit":"FLOP/s","best":4e11,"median":4e11,"spread":0.01,"samples":9,"with":"x"}
  - {"device":"cpu","what":"memory","how":"triad","threads":2,"unit":"B/s","best":2e10,"median":2e10,"spread":0.01,"samples":9,"with":""}
  - {"device":"Tesla V100-SXM2-16GB","what":"product","how":"fp32","threads":0,"unit":"FLOP/s","best":1.4e13,"median":1.4e13,"spread":0.01,"samples":9,"with":"cuBLAS"}
  - {"device":"Tesla V100-SXM2-16GB","what":"memory","how":"copy","threads":0,"unit":"B/s","best":7.9e11,"median":7.9e11,"spread":0.01,"samples":9,"with":""}
Y
ok orch paleo --roofline --net lenet5 --gpu here --batch 8 --chart here.svg
case $err in *'(0 measured'*) _fail 'no measured layers' ;; *'measured layers)'*) ;; *) _fail 'what the chart holds is not said' ;; esac
for text in 'roofs: measured on 2026-11-20' 'Filled: measured' 'memory 20 GB/s' 'fp32 100 GFLOP/s' 'bf16 400 GFLOP/s' 'fp64 50 GFLOP/s \*' 'a processor' '2 threads'; do
    grep -q "$text" here.svg || _fail "the chart lacks: $text"
done
ok orch paleo --roofline --net lenet5 --gpu V100 --batch 8 --chart gpu.svg
says '(0 measured layers)'
for text in 'memory 790 GB/s' 'fp32 14 TFLOP/s' 'fp16 125 TFLOP/s \*'; do grep -q "$text" gpu.svg || _fail "the chart lacks: $text"; done
# the report: each layer's share of its roof is its rate over the lesser of peak and bandwidth times intensity
ok orch report r.recipe --json
python3 - "$SCRATCH/out" <<'P' || _fail 'the report'
import json, sys
tables = [block["table"] if "table" in block else block for section in json.load(open(sys.argv[1]))["sections"]
          for block in section["blocks"] if "roof_(gflop/s)" in json.dumps(block)]
rows = [row for table in tables for row in table["rows"]]
answers = [block["text"] for section in json.load(open(sys.argv[1]))["sections"] for block in section["blocks"] if block["kind"] == "answer"]
assert any(text.startswith("Share of the rate that the roofline allows: ") for text in answers), answers
assert len(rows) >= 5, tables
for row in rows:
    roof, intensity = row["roof_(gflop/s)"], row["flop/byte"]
    expected = min(100, 20 * intensity)
    assert abs(roof / expected - 1) < 1e-9, row
    assert abs(row["share_of_the_roof_(%)"] / (100 * row["gflop/s"] / expected) - 1) < 1e-9, row
    assert row["bound"] == ("memory" if intensity < 5 else "compute"), row
conv1 = next(row for row in rows if row["layer"] == "conv1")
assert conv1["kind"] == "conv" and conv1["time_(ms)"] > 0, conv1
P
