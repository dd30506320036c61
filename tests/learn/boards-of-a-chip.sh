# Boards of one chip are held out together, and what of the test rows was not measured is found from the rows.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
# each chip is faster or slower than its specification by a factor that only its other boards tell
python3 - <<'P'
import random
random.seed(2)
boards = {"A100-SXM4-40GB": 3, "A100-PCIe-40GB": 3, "V100-SXM2-16GB": 1, "V100-PCIe-16GB": 1, "P100-SXM2": 0.33, "P100-PCIe-16GB": 0.33}
peaks = {"A100-SXM4-40GB": 19.5, "A100-PCIe-40GB": 19.5, "V100-SXM2-16GB": 15.7, "V100-PCIe-16GB": 14.1, "P100-SXM2": 10.6, "P100-PCIe-16GB": 9.5}
def write(name, gpus, rows, nets):
    with open(name, "w") as f:
        f.write("gpu,net,batch,gpus,step_ms\n")
        for _ in range(rows):
            gpu, batch, net = random.choice(gpus), 2 ** random.randint(4, 8), random.choice(nets)
            ms = batch * {"resnet18": 1.8, "resnet50": 4.1}.get(net, 2) / peaks.get(gpu, 15) * boards.get(gpu, 1) * random.lognormvariate(0, 0.02)
            f.write(f"{gpu},{net},{batch},1,{ms:.6g}\n")
write("a.csv", list(boards), 240, ["resnet18", "resnet50"])
write("one.csv", [b for b in boards if b.startswith("A100")], 60, ["resnet18", "resnet50"])
write("b.csv", ["A100-SXM4-40GB"], 12, ["resnet18"])
for gpu in ("A100 80GB PCIe", "TITAN V", "K80", "H100 PCIe", "MI210"):
    write("c.csv", [gpu], 12, ["resnet18"])
    open("b.csv", "a").write("".join(open("c.csv").readlines()[1:]))
write("d.csv", ["V100-SXM2-16GB"], 12, ["resnet34"])
write("e.csv", ["V100-SXM2-16GB"], 12, ["vgg16"])
open("b.csv", "a").write("".join(open("d.csv").readlines()[1:] + open("e.csv").readlines()[1:]))
open("b.csv", "a").write("K80,vgg16,32,4,9\n")
P
ok orch predictor eval --train a.csv --test b.csv --model grey --untuned --json
printf '%s' "$out" | python3 -c '
import json, sys
e = json.load(sys.stdin)
of = {q["question"]: q for q in e["questions"]}
# the other board of the chip would have told the factor
assert of["unseen gpu"]["mean_relative_error"] > 0.4, of["unseen gpu"]["mean_relative_error"]
assert of["similar rows"]["mean_relative_error"] < 0.1, of["similar rows"]["mean_relative_error"]
rows = {k: s["n"] for k, s in e["shapes"].items()}
assert rows == {"rows like the measured ones": 12, "another board of a measured chip": 24, "a chip that was not measured": 12,
                "a chip later than all measured ones": 12, "a chip of a vendor that was not measured": 12,
                "a network that was not measured": 12, "a family of networks that was not measured": 12,
                "a chip that was not measured, a family of networks that was not measured, more GPUs than were measured": 1}, rows
' || _fail 'boards or shapes are wrong'
ok orch predictor eval --train a.csv --test b.csv --model grey --untuned --by-group --group gpu --json
printf '%s' "$out" | python3 -c '
import json, sys
q = json.load(sys.stdin)["questions"][0]
assert q["mean_relative_error"] > 0.4, q["mean_relative_error"]
' || _fail 'the groups of --group gpu are boards'
ok orch predictor eval --train a.csv --test b.csv --model linear --untuned
has 'another board of a measured chip '
fails 2 orch predictor eval --train one.csv --test b.csv --by-group --group gpu
says "have the same 'gpu' or chip"
# of a processor nothing is known where only GPUs were measured (public rows: 60 times as long as forecast), nor the reverse
printf 'gpu,net,batch,gpus,step_ms\nCPU,resnet18,16,1,240\n' >cpu.csv
ok orch predictor eval --train a.csv --test cpu.csv --model grey --untuned --json
printf '%s' "$out" | python3 -c '
import json, sys
of = json.load(sys.stdin)["shapes"]["a chip that was not measured"]
assert of["coverage_90"] == 1, of
' || _fail 'a processor is forecast from GPUs as if it were one'
# kernels of an inference server: H100's ratio to the analytical model is H200's, too, whose memory and year are nearer to B200's
python3 - <<'P'
import random
random.seed(3)
peaks = {"A100-SXM4-80GB": 312, "H100": 989, "B200": 2250, "L40S": 362}
factors = {"A100-SXM4-80GB": 1, "H100": 2, "B200": 0.5, "L40S": 3}
def write(name, gpus, rows, board=""):
    with open(name, "w") as f:
        f.write("gpu,gemm_dtype,m,n,k,ms\n")
        for _ in range(rows):
            gpu, (m, n, k) = random.choice(gpus), (2 ** random.randint(9, 13) for _ in range(3))
            ms = factors[gpu] * (0.005 + 2e-9 * m * n * k / peaks[gpu] / 0.7) * random.lognormvariate(0, 0.02)
            f.write(f"{board or gpu},bfloat16,{m},{n},{k},{ms:.6g}\n")
write("kernels.csv", ["A100-SXM4-80GB", "H100", "B200"], 300)
write("sibling.csv", ["H100"], 40, "H200")
write("few.csv", ["L40S"], 45)
few = open("few.csv").readlines()
open("with-few.csv", "w").writelines(open("kernels.csv").readlines() + few[1:6])
open("few.csv", "w").writelines(few[:1] + few[6:])
P
ok orch predictor eval --train kernels.csv --test sibling.csv --target ms --untuned --json
printf '%s' "$out" | python3 -c '
import json, sys
shapes = json.load(sys.stdin)["shapes"]
error = shapes["another board of a measured chip"]["mean_relative_error"]
assert error < 0.1, error
' || _fail 'a sibling does not keep what its chip is off by'
# five rows of a board correct its level, but the other boards' errors do not tell its own
ok orch predictor eval --train with-few.csv --test few.csv --target ms --untuned --json
printf '%s' "$out" | python3 -c '
import json, sys
shape = json.load(sys.stdin)["shapes"]["rows like the measured ones"]
assert shape["mean_relative_error"] < 0.5 and shape["coverage_90"] > 0.8, shape
' || _fail 'few rows of a board have intervals as narrow as many'
