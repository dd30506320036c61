# A predictor is trained on one table of measurements and evaluated on another.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
python3 - <<'P'
import random
random.seed(1)
for name, rows in (("a", 300), ("b", 200)):
    with open(name + ".csv", "w") as f:
        f.write("gpu,b,m,k,n,ms,ms_min\n")
        for _ in range(rows):
            gpu, peak = random.choice([("V100", 15.67e12), ("K80", 4.37e12)])
            m, n = 2 ** random.randint(5, 11), 2 ** random.randint(5, 11)
            ms = 1e3 * 2 * 8 * m * n * 512 / peak * 1.7 * random.lognormvariate(0, 0.1)
            f.write(f"{gpu},8,{m},512,{n},{ms:.6g},{ms * 0.9:.6g}\n")
P
ok orch predictor eval --train a.csv --test b.csv --target ms --model boost --untuned --group gpu --json
says "'ms_min' was left out"
says_not learning: # no terminal
printf '%s' "$out" | python3 -c '
import json, sys
s = json.load(sys.stdin)
assert s["n"] == 200 and s["mean_relative_error"] < 0.2 and 0.8 < s["coverage_90"] <= 1 and "grey" in s["model"], s
assert set(s["groups"]) == {"V100", "K80"} and s["rmse"] > 0 and s["fit_s"] > 0 and s["predict_us"] > 0
assert sum(g["n"] for g in s["groups"].values()) == 200
' || _fail 'the scores are wrong'
ok orch predictor eval --train a.csv --test b.csv --target ms --model linear
has 'mean relative error in 5-fold cross-validation'
says_not learning:
# on a terminal a line on stderr says what is tried; it is taken away at the end, and is not there with --quiet
learn="orch predictor eval --train a.csv --test b.csv --target ms --model boost --untuned"
ok terminal $learn
has 'learning: boost, fold 1 of 5, '
has 'learning: boost, fold 5 of 5, '
has 'learning: boost, final fit, 300 rows; 1 of '
has '240 rows; 10 of '
has '(unseen gpu)'
case $out in *"$(printf '\r\033[K')") ;; *) _fail 'the line is left on the screen' ;; esac
ok terminal $learn --quiet
says "mean relative error"
has_not learning:
fails 2 orch predictor eval --train a.csv
says '--test'
fails 2 orch predictor eval --train a.csv --test b.csv --target ms --model boots
says 'did you mean'
fails 2 orch predictor eval --train a.csv --test b.csv --target ms --model gray
says "did you mean 'grey'?"
fails 2 orch predictor eval --train a.csv --test b.csv --target ms --model magic
says 'auto, grey, linear, '
fails 2 orch predictor eval --train a.csv --test b.csv --target sec
says "sec"
printf 'a,ms\n1,2\n' >few.csv
fails 2 orch predictor eval --train few.csv --test few.csv --target ms
says 'too few'
printf 'a,ms\n1,0\n' >zero.csv
fails 2 orch predictor eval --train zero.csv --test b.csv --target ms
says 'zero.csv:2:3'
