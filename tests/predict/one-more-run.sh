# What one short run of the configuration would cost and bring: said where it would narrow the interval, with its price.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
ok orch predict --gpu T4 --net resnet50 --price 36
has "a run of 20 steps on this GPU ('orch run', about 2 min"
has 'would narrow the factor from 1.6'
has ' to 1.26'
ok orch predict --gpu T4 --net resnet50 --price 36 --json
python3 - "$out" <<'P' || _fail 'the run is priced wrongly'
import json, sys
p = json.loads(sys.argv[1])["predictions"][0]
n = p["narrower"]
assert n["steps"] == 20 and abs(n["time_s"] - 120 - 20 * p["step_s"]) < 1e-6, n
assert abs(n["cost_usd"] - n["time_s"] / 100) < 1e-9, n   # $36 an hour
assert abs(n["factor_now"] - p["step_high_s"] / p["step_s"]) < 1e-6 and 1.2 < n["factor_then"] < 1.3, n
P
ok orch predict --gpu T4 --net resnet50 --workers 4 --json
same "$(json predictions.0.narrower)" null 'several workers'
ok orch predict --gpu T4 --net resnet50 --workers 4
has_not 'of 20 steps'
