# Published steps answer first: trainings of ResNet-50 whose source is left out lie within narrow intervals, and own or imported rows move the answer.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
python3 - "$SOURCE/share/measured/steps.csv" "$BUILD/orch" <<'P' || _fail 'the forecasts without the source'
import csv, json, subprocess, sys
LIMIT = {"same-step": 1.2, "same-chip": 1.36}
inside, asked = 0, [("K80", "fp32"), ("P100-SXM2", "fp32"), ("V100-SXM2-16GB", "fp32"), ("V100-SXM2-16GB", "fp16"), ("A10", "fp32"), ("A10", "fp16"),
                    ("A100-PCIe-80GB", "fp16"), ("H100-SXM5", "fp16"), ("RTX-3090", "fp32"), ("RTX-3090", "fp16")]
rows = [r for r in csv.DictReader(open(sys.argv[1])) if r["net"].startswith("resnet50") and r["mode"] == "train" and r["workers"] == "1"]
for gpu, precision in asked:
    r = max((r for r in rows if (r["gpu"], r["precision"]) == (gpu, precision)), key=lambda r: (r["source"] != "timm", int(r["batch"])))
    out = subprocess.run([sys.argv[2], "predict", "--without", r["source"], "--gpu", gpu, "--net", r["net"], "--precision", precision, "--batch", r["batch"],
                          "--explain", "--json"], capture_output=True, text=True, check=True)
    p = json.loads(out.stdout)["predictions"][0]
    used = p["explanation"]["measured_steps"]
    assert used and all(u["source"] != r["source"] and u["licence"] and u["date"] for u in used), (gpu, used)
    assert p["step_high_s"] / p["step_s"] <= LIMIT.get(p["tier"], 9), (gpu, p["tier"], p["step_high_s"] / p["step_s"])
    inside += p["step_low_s"] <= float(r["step_ms"]) / 1e3 <= p["step_high_s"]
assert inside >= 9, inside
P
fails 2 orch predict --gpu V100 --net resnet50 --without nobody
says 'tf_benchmarks, timm'
# with its own row the step is answered within its scatter, on one GPU and on eight
ok orch predict --gpu V100 --net resnet50 --batch 128 --workers 1,8 --json
python3 - "$out" <<'P' || _fail 'a published step'
import json, sys
for p, rate in zip(json.loads(sys.argv[1])["predictions"], (369, 2817)):
    assert p["tier"] == "same-step" and abs(p["images_per_s"] / rate - 1) < 0.1, (p["tier"], p["images_per_s"])
    assert p["step_high_s"] / p["step_s"] < (1.2 if p["workers"] == 1 else 1.25), p
P
# the batch of a measured step is that of one GPU, on several GPUs, too: twice the GPUs are at most twice as fast
ok orch predict --gpu V100 --net resnet50 --workers 1,2,4,8 --json
python3 -c 'import json, sys; r = [p["images_per_s"] for p in json.loads(sys.argv[1])["predictions"]]; sys.exit(not all(b < 2.02 * a for a, b in zip(r, r[1:])))' "$out" ||
    _fail 'more than twice as fast on twice the GPUs'
# the interval of a measured step holds its measurements, whatever software they were made with
ok orch predict --gpu TITAN-X-Maxwell --net alexnet-owt --batch 128 --precision fp32 --json
python3 -c 'import json, sys; p = json.loads(sys.argv[1])["predictions"][0]; sys.exit(not (p["step_low_s"] < 0.0812 and 0.2309 < p["step_high_s"] < 0.3))' "$out" || _fail 'the scatter'
# imported rows of the chip move the answer at once
ok orch predict --gpu L4 --net resnet50 --json
before=$(json predictions.0.step_s)
same "$(json tier)" same-network
printf 'gpu,net,batch,precision,step_ms\nL4,resnet18,64,fp32,200\nL4,resnet34,64,fp32,360\n' >l4.csv
ok orch import l4.csv --target step_ms
ok orch predict --gpu L4 --net resnet50 --json
same "$(json tier)" same-chip
python3 -c 'import sys; a, b = map(float, sys.argv[1:]); sys.exit(not a > 1.1 * b)' "$(json predictions.0.step_s)" "$before" || _fail 'slow rows do not slow the forecast'
# a transformer's measured step answers; where the host decides (batch 1, 35.9 ms in fp16), steps that the GPU decides say nothing
ok orch predict --gpu H100 --net bert-base-mlm --batch 1,64 --precision fp16 --json
python3 - "$out" <<'P' || _fail 'a published transformer'
import json, sys
for p, ms in zip(json.loads(sys.argv[1])["predictions"], (35.9, 116.1)):
    assert p["tier"] == "same-step" and abs(1e3 * p["step_s"] / ms - 1) < 0.1 and p["step_high_s"] / p["step_s"] < 1.4, p
P
# a row of the step itself outweighs published ones, however its network is spelled
for net in resnet50 ResNet-50 resnet_50; do
    printf 'gpu,net,input,batch,precision,mode,step_ms\nH100-SXM5,%s,3x224x224,64,fp16,train,60\n' $net >h100.csv
    ok orch --db $net.db import h100.csv --target step_ms
    ok orch --db $net.db predict --gpu H100 --net resnet50 --batch 64 --precision fp16 --json
    python3 -c 'import json, sys; p = json.loads(sys.argv[1])["predictions"][0]; sys.exit(not p["step_low_s"] <= 0.06 <= min(p["step_high_s"], 1.1 * p["step_s"]))' "$out" || _fail $net
done
# faster units take no longer, whatever each precision's measurements are of
for asked in 'A10 vgg16 64' 'L4 vgg16 64' 'H100 resnet50 4' 'RTX-5090 gpt2 16'; do
    set -- $asked
    last=inf
    for precision in fp64 fp32-ieee tf32 fp16; do
        ok orch predict --gpu "$1" --net "$2" --batch "$3" --precision $precision --json
        step=$(json predictions.0.step_s)
        python3 -c "import sys; sys.exit(not $step <= 1.0001 * float('$last'))" || _fail "$asked: $step s in $precision, $last s in a slower one"
        last=$step
    done
done
