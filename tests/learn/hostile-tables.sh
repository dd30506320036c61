# Malformed tables and predictors: each gives an error with its place or a hint.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
python3 - <<'P'
import random
random.seed(2)
def write(name, head, rows):
    with open(name, "w", encoding="latin-1") as f:
        f.write("\n".join(",".join(map(str, r)) for r in [head, *rows]) + "\n")
head = ["gpu", "net", "batch", "step_ms"]
gpus = {"V100": 1, "K80": 3.5, "P100": 1.6}
def rows(n, names=gpus):
    for _ in range(n):
        gpu, batch = random.choice(list(names)), 2 ** random.randint(0, 7)
        yield [gpu, "resnet18", batch, round((2 + batch / 3) * gpus[gpu] * random.lognormvariate(0, .05), 5)]
write("good.csv", head, rows(60))
write("none.csv", head, [])
write("one.csv", head, rows(40, ["V100"]))
write("other.csv", ["x", "step_ms"], [[i, 5 + i] for i in range(20)])
write("huge.csv", ["x", "step_ms"], [[f"1e{random.randint(-300, 300)}", f"1e{random.randint(-300, 300)}"] for _ in range(60)])
write("latin.csv", ["gpu", "step_ms"], [["V100", 1], ["K\xf6", 2]] * 10)
write("wall.csv", ["gpu", "net", "batch", "wall_s"], [["V100", "resnet18", 8, 1000 + i] for i in range(20)])
write("quotes.csv", ["gpu", "net", "batch", '"a ""b"" \\, c"', "step_ms"],
      [["V100", "resnet18", 2 ** (i % 8), f'"x ""{i % 3}"""', 10 + 2 ** (i % 8)] for i in range(40)])
P
eval_() { orch predictor eval --target step_ms --model linear --untuned "$@"; }
# errors beyond all measure are no crash; no rows to judge by are no score
ok orch predictor eval --train huge.csv --test huge.csv --target step_ms --model tree --untuned --json
same "$(json rmse)" null
fails 2 eval_ --train good.csv --test none.csv --json
says "'none.csv' has no rows to test on"
# what is asked about has other columns than what was learned from: said
ok eval_ --train good.csv --test other.csv
says "'other.csv' has no column 'batch'"
ok eval_ --train good.csv --test good.csv
says_not 'no column'
# options that would say nothing
fails 2 eval_ --train good.csv --test good.csv --by-group
says '--group COLUMN'
fails 2 eval_ --train one.csv --test good.csv --by-group --group gpu
says "have the same 'gpu'"
fails 2 eval_ --train good.csv --test good.csv --drop step_ms
says 'is the target'
ok eval_ --train good.csv --test good.csv --drop bacth
says "no column 'bacth' to drop; did you mean 'batch'?"
fails 2 eval_ --train latin.csv --test good.csv
says 'not UTF-8'
says 'latin.csv:3:2'
fails 3 eval_ --train good.csv --test good.csv --out nowhere/x.csv
says nowhere

# predictors: names, data named twice, step times that are none
for name in good wall quotes; do ok orch import $name.csv --target "$(head -1 $name.csv | sed 's/.*,//')"; done
train() { orch predictor train --no-runs --model linear --untuned "$@"; }
fails 2 train --data good --name ''
says '1 to 63'
fails 2 train --data good --name "$(printf 'n\344')"
says printable
fails 2 train --data good --name "$(printf '%064d' 0)"
says '1 to 63'
fails 2 train --data good,good
says "'good' is named twice"
fails 2 train --data wall --target wall_s --name step_ms
says "'step_ms' is reserved"
ok train --data wall --target wall_s --name wall
sqlite() { python3 -c 'import sqlite3, sys; db = sqlite3.connect(".orch/results.db"); db.execute(sys.argv[1]); db.commit()' "$1"; }
sqlite "UPDATE predictor SET name = 'step_ms'"
ok orch predict --gpu V100 --net resnet18 --batch 8 --json
says "the predictor's target is 'wall_s', expected step_ms"
same "$(json tier)" same-step
# a column with quotes in its name, and a network whose name has some
ok train --data quotes
ok orch predict --gpu V100 --net resnet18 --batch 33 --explain
has 'nearest measurements'
ok train --data quotes,good
# a part that is read only when it is needed is broken: no half of it is exported
ok orch predictor export step_ms
sqlite "UPDATE predictor SET model = replace(model, char(10) || '{\"members\":[{\"trial\"', char(10) || '{\"members\":[{\"trail\"')"
fails 2 orch predictor export step_ms
says 'damaged'
same "$out" '' 'half a predictor'
fails 2 orch predictor show step_ms
says "predictor 'step_ms'"
