# Tasks whose items a second differ by a factor of ten thousand: measured on two GPUs and asked on a third, each is forecast from its own
# rows; and a batch smaller than all of a task takes longer than its share of a larger one's time.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
python3 - <<'P'
import random
random.seed(3)
LEVEL = [3.5, 21, 160, 900, 5200, 31000]
def rows(gpu, speed, batches):
    return [(gpu, f"t{t}", b, level * speed * (0.1 if b == 1 else 1) * random.uniform(0.98, 1.02)) for t, level in enumerate(LEVEL) for b in batches]
def write(name, rows):
    with open(name, "w") as f:
        f.write("gpu,task,batch,items_per_s\n")
        f.writelines(f"{g},{t},{b},{y:.5g}\n" for g, t, b, y in rows)
h100, l40s = rows("H100", 1, [1, 16, 32, 64, 128]), rows("L40S", 0.42, [16, 32, 64, 128])
write("both.csv", h100 + l40s)
write("l40s.csv", l40s)
write("h200.csv", [("H200", *r[1:]) for r in h100])
write("new.csv", [("H200", "t9", 16, 100)])
P
# forecasts TRAIN TEST: of each row its task, its batch, and its forecast over the measured rate
forecasts() {
    ok orch predictor eval --train "$1" --test "$2" --target items_per_s --out out.csv
    python3 -c '
import csv, sys
for asked, said in zip(csv.DictReader(open(sys.argv[1])), csv.DictReader(open("out.csv"))):
    print(asked["task"], asked["batch"], float(said["value"]) / float(asked["items_per_s"]))' "$2"
}
# an H200 has the multiprocessors of an H100 and 1.43 times its bandwidth
forecasts both.csv h200.csv >third
awk '$3 < 0.95 || $3 > 1.5 { print; bad = 1 } END { exit bad || NR != 30 }' third || _fail "$(cat third)"
# from an L40S without batches of one: they are not said to be as fast as those of sixteen, nor are the others far off
forecasts l40s.csv h200.csv >second
awk '$2 == 1 && $3 > 5 || $2 > 1 && ($3 < 0.6 || $3 > 1.7) { print; bad = 1 } END { exit bad || NR != 30 }' second || _fail "$(cat second)"
# of a task that nobody measured the forecast is no guess among the fastest, but as slow as the slower ones
forecasts both.csv new.csv >new
awk '$3 < 0.02 || $3 > 10 { bad = 1 } END { exit bad || NR != 1 }' new || _fail "$(cat new)"
# the list of candidates has the name that the mixture has
ok orch predictor eval --train both.csv --test h200.csv --target items_per_s --verbose
has ' matched rows, alone '
has_not 'matched analytical model'
