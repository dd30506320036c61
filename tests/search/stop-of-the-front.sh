# With several metrics forecast(p) stops a trial that will not end on the front, and lets those go on that are on it.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
# Halving loss; its end depends on x, and ms is x itself. Settings of x above 0.5 lose in both metrics.
cat >train.py <<'P'
import sys, time
x = float(sys.argv[1])
end = abs(x - 0.5) + (1 if x > 0.5 else 0)
print("ms", 10 * x, flush=True)
for epoch in range(1, 9):
    print("loss", end + 2 ** -epoch, flush=True)
    time.sleep(0.15 if x > 0.5 else 0)
P
search() { orch try -x 'x=uniform(0, 1)' --search 'min loss, min ms' --trials 20 --sampler sobol -j 1 "$@" -- python3 train.py '{x}'; }
for wrong in median asha hyperband 'forecast(top=2)'; do
    fails 2 search --stop "$wrong"
    says "'stop': this rule needs one metric"
done
ok search --stop 'forecast(p=0.05)'
says 'the chance to end on the front is'
says 'pruned'
ok orch ls --json
python3 - "$out" <<'P' || _fail 'a trial of the front was stopped'
import json, sys
it = json.loads(sys.argv[1])
runs = it["runs"]
pruned = [r["setting"]["x"] for r in runs if r["state"] == "pruned"]
assert pruned and min(pruned) > 0.5, sorted(pruned)
P
