# More GPUs than were measured are a question of their own: models are chosen, and the interval is made, by numbers of GPUs that were left out.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
python3 - <<'P'
import random
random.seed(5)
def write(name, counts, rows):
    with open(name, "w") as f:
        f.write("gpu,batch,gpus,step_ms\n")
        for _ in range(rows):
            gpus, batch = random.choice(counts), 2 ** random.randint(4, 8)
            ms = 0.4 * batch * gpus ** 0.5 * random.lognormvariate(0, 0.01) # of all of them, with an exchange
            f.write(f"V100,{batch},{gpus},{ms:.6g}\n")
write("a.csv", [1, 2, 4, 8], 160)
write("two.csv", [1, 2], 80)
write("b.csv", [16], 20)
P
# question FILE: whether there is one of the numbers, then the rows inside the interval and the mean error
question() {
    ok orch predictor eval --train "$1" --test b.csv --untuned --json
    python3 -c '
import json, sys
e = json.loads(sys.argv[1])
q = [q for q in e["questions"] if q["question"] == "more gpus than measured"]
assert list(e["shapes"]) == ["more GPUs than were measured"], e["shapes"]
print(len(q), e["coverage_90"] > 0.8, e["mean_relative_error"] < 0.25, bool(q) and q[0]["mean_relative_error"] > 1.5 * e["questions"][0]["mean_relative_error"])
' "$out"
}
same "$(question a.csv)" '1 True True True' 'four numbers'
case $(question two.csv) in '0 '*) ;; *) _fail 'two numbers cannot tell' ;; esac
# the question survives saving: a predictor that is kept answers the same
ok orch import a.csv --target step_ms
ok orch predictor train --no-runs --data a --untuned --name kept
ok orch predictor show kept
has 'more gpus than measured: '
