# 'orch doctor --bench' measures this machine and stores it as a device that forecasts can use.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
fails 2 orch predict --gpu here --net lenet5
says 'this machine has not been measured yet'
_run orch doctor --bench
[ $status = 0 ] || [ $status = 7 ] || _fail "status $status"
has triad
has product
has fp32
has fp64
has "skipped"
has "no CUDA device"
ok orch gpu show here
has processor
has 'measured:'
ok orch predict --gpu here --net lenet5 --json
same "$(json tier) $(json predictions.#)" 'prior 1'
[ -z "$(ls | grep orch-disk)" ] || _fail 'the file that measured the disk is still there'
# every ceiling with its spread, kept with the date and the machine's key
python3 - "$XDG_DATA_HOME" <<'P' || _fail 'the file of the device'
import glob, json, sys
file, = glob.glob(sys.argv[1] + "/orch/devices/*.yaml")
text = open(file).read()
rows = [json.loads(line[4:]) for line in text.splitlines() if line.startswith("  - {")]
assert file.endswith(text.split('machine: "')[1].split('"')[0] + ".yaml"), "the key names the file"
got = {(r["what"], r["how"], r["threads"]): r for r in rows if r["device"] == "cpu"}
for how in ("fp32", "fp64"):
    row = got["product", how, 1]
    assert row["best"] >= row["median"] > 1e8 and row["samples"] >= 5 and row["with"] and row["unit"] == "FLOP/s", row
assert got["memory", "triad", 1]["best"] > 1e8
assert any(r["device"] != "cpu" for r in rows), "GPUs, or why there are none"
spec = {line.split(":")[0].strip(): line.split(":")[1].strip() for line in text.splitlines() if "_gbs" in line or "_tflops" in line}
most = max(r["threads"] for r in rows)
assert abs(float(spec["bandwidth_gbs"]) * 1e9 / got["memory", "triad", most]["best"] - 1) < 1e-3, "device 'here' has the triad"
assert abs(float(spec["fp64_tflops"]) * 1e12 / got["product", "fp64", most]["best"] - 1) < 1e-3, "and the rate of fp64"
P
