# A batch that grows in proportion to the number of GPUs is that of all of them, whatever its column is called: it is divided, and the answers say so.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
python3 - <<'P'
import random
MS = {"resnet18": 0.2, "resnet50": 0.8, "vgg16": 2.1}
def write(name, counts, batch_of, nets=MS, gpus_named="gpus"):
    with open(name, "w") as f:
        f.write(f"gpu,net,batch_per_gpu,{gpus_named},img_per_s\n")
        for gpu, speed in (("V100", 1), ("P100", 0.6), ("RTX 3090", 1.3)):
            for net, ms in nets.items():
                for gpus in counts:
                    for one in (16, 64):
                        noise = random.Random(f"{gpu} {net} {gpus} {one}").lognormvariate(0, 0.01) # the same in every file
                        rate = 1e3 * gpus ** 0.95 * speed / (ms * noise) / (1 + 4 / one)
                        f.write(f"{gpu},{net},{batch_of(one, gpus)},{gpus},{rate:.6g}\n")
write("all.csv", [1, 2, 4], lambda one, gpus: one * gpus)
write("each.csv", [1, 2, 4], lambda one, gpus: one)
write("less.csv", [1, 2, 4], lambda one, gpus: one / gpus)
write("one.csv", [1], lambda one, gpus: one)
write("eight.csv", [8], lambda one, gpus: one * gpus)
write("workers.csv", [1, 2, 4], lambda one, gpus: one * gpus, gpus_named="workers")
with open("grid.csv", "w") as f: # every batch on every number of GPUs: rows of both kinds tell nothing
    f.write("gpu,net,batch,gpus,step_ms\n")
    for net, ms in MS.items():
        for gpus in (1, 2, 4):
            for batch in (16, 32, 64, 128):
                f.write(f"V100,{net},{batch},{gpus},{ms * batch * gpus ** 0.1:.4g}\n")
with open("sweep.csv", "w") as f: # of one network alone, the author may have meant it
    f.write("gpu,net,batch,gpus,step_ms\n")
    for gpus in (1, 2, 4, 8, 16, 32, 64):
        for k in (1, 2):
            f.write(f"V100,resnet50,{16 * gpus},{gpus},{12.5 * gpus + k}\n")
P
SAYS="is read as the batch of all GPUs together"
# reads TRAIN TEST [TARGET]: whether the answer says so
reads() {
    ok orch predictor eval --train "$1" --test "$2" --target "${3:-img_per_s}" --untuned
    case $err in *"$SAYS"*) echo yes ;; *) echo no ;; esac
}
reads all.csv all.csv
says "column 'batch_per_gpu' $SAYS: in 18 rows it grows with their number, in 0 it does not"
same "$(reads workers.csv workers.csv)" yes 'workers are counted, too'
same "$(reads each.csv each.csv)" no 'it stays'
same "$(reads less.csv less.csv)" no 'it shrinks'
same "$(reads grid.csv grid.csv step_ms)" no 'a grid'
same "$(reads sweep.csv sweep.csv step_ms)" no 'one network'
# the rows of several GPUs may all be in one of the two tables
same "$(reads one.csv one.csv)" no 'one GPU'
same "$(reads one.csv eight.csv)" yes 'the test rows tell'
# the batch of one GPU is what models learn from: both tables are then the same, and so are their answers
ok orch predictor eval --train all.csv --test eight.csv --target img_per_s --untuned --out a.csv
awk -F, -v OFS=, 'NR > 1 { $3 /= $4 } 1' eight.csv >eight-each.csv
ok orch predictor eval --train each.csv --test eight-each.csv --target img_per_s --untuned --out b.csv
same "$(cut -d, -f2 a.csv)" "$(cut -d, -f2 b.csv)" 'the divided table and the one of one GPU'
# a data set in the store: training, the kept predictor and the explanation say it
awk -F, -v OFS=, 'NR == 1 { $5 = "step_ms" } NR > 1 { $5 = 1e3 * $3 / $5 } 1' all.csv >steps.csv
ok orch import steps.csv --target step_ms --map batch_per_gpu=batch
ok orch predictor train --no-runs --data steps --untuned
says "data set 'steps': column 'batch' $SAYS"
ok orch predictor show step_ms
has "$SAYS"
ok orch predict --gpu V100 --net resnet50 --batch 64 --explain
has "$SAYS"
has 'resnet50 on V100-SXM2-16GB, batch 64'
