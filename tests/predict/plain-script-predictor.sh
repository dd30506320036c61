# A plain script declares no cost: its parameters are the features of 'orch predictor train', and 'orch plan' and 'orch
# predict --experiment' forecast settings that were not run.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
cat >fit.plugin <<'P'
plugin: fit
version: 1.0.0
about: takes as long as its parameters say
licence: MIT
command: [sh, fit.sh, "${n}", "${batch}", "${kind}"]
metrics_from: lines
parameters:
  n: {type: int, default: 100, help: points}
  batch: {type: int, default: 64, help: points at once}
  kind: {type: string, default: exact, help: exact or fast}
  note: {type: string, default: plain, help: nothing}
metrics:
  x: {help: nothing}
P
# named like a time: a parameter does not reveal the target, since it is known before the run
printf 'sleep "$(awk "BEGIN { print 0.1 + $1 * 0.001 * ($2 / 128 + 0.5) * (\\"$3\\" == \\"fast\\" ? 0.5 : 1) }")"\necho x 1\n' >fit.sh
printf 'format: 1\nrecipe: fits\nexperiments:\n  fit:\n    plugin: ./fit.plugin\n    sweep: { n: [100, 200, 400], batch: [64, 256], kind: [exact, fast] }\n  other:\n    plugin: ./fit.plugin\n    with: { note: odd }\n    sweep: { n: [100] }\n' >fits.recipe
# without runs, and with too few
ok orch run fits.recipe other -q
fails 2 orch predictor train --where 'experiment = fit'
says 'no run that ended ok matches'
says 'orch ls --where'
fails 2 orch predict --experiment fit -x n=300
says "no predictor was trained on the parameters of experiment 'fit'"
says "hint: orch predictor train --where 'experiment=\"fit\"'"
ok orch run fits.recipe fit -x n=100 -q
fails 2 orch predictor train --where 'experiment = fit'
says "there are only 4 rows with 'wall_s' to train on, and at least 10 are needed"
says 'hint: run more settings'
ok orch run fits.recipe fit -q
# runs of two experiments are not mixed: their parameters mean different things
fails 2 orch predictor train --where 'recipe = fits'
says 'several experiments'
says 'experiment = '
# steps cannot be learned from such runs
fails 2 orch predictor train --where 'experiment = fit' --target step_ms
says "0 rows with 'step_ms'"
ok orch predictor train --where 'experiment = fit'
has "predictor 'fit' from 12 rows of 12 settings"
says 'orch predict --experiment fit -x'
ok orch predictor rows --where 'experiment = fit' --json
printf '%s' "$out" | python3 -c '
import json, sys
rows = json.load(sys.stdin)["rows"]
assert len(rows) == 12 and {(r["param.n"], r["param.batch"], r["param.kind"]) for r in rows} == {
    (n, b, k) for n in (100, 200, 400) for b in (64, 256) for k in ("exact", "fast")}, rows
assert all(r["wall_s"] > 0.1 and r["gpu"] for r in rows)
' || _fail 'the rows are wrong'
ok orch predictor show fit
has 'wall_s of experiment fit'
has param.batch
ok orch predictor ls --json
same "$(json predictors.0.name) $(json predictors.0.used)" 'fit true'
# settings that were not run: plan and predict say the same, and the runs end within the interval
held='n=300,150 batch=128 kind=exact,fast'
ok orch predict --experiment fit -x n=300,150,batch=128 -x kind=exact,fast --json
predicted=$out
set -- $held
ok orch plan fits.recipe fit -x $1 -x $2 -x $3 --json
planned=$out
ok orch run fits.recipe fit -x $1 -x $2 -x $3 -q
ok orch export --where 'experiment = fit and batch = 128' -f json
python3 - "$predicted" "$planned" "$out" <<'P' || _fail 'a forecast is wrong'
import json, sys
predict, plan, runs = map(json.loads, sys.argv[1:])
key = lambda p: (p["n"], p["batch"], p["kind"])
by = {key(p["params"]): p for p in predict["predictions"]}
assert len(by) == 4 and predict["runs"] == predict["settings"] == 12 and predict["interval"] == 0.9
for trial in plan["trials"]:
    one, other = trial["forecast"], by[key(trial["params"])]
    for name in ("total_s", "low_s", "high_s"):
        assert abs(one[name] - other[name]) < 1e-9, (one, other)
    assert one["tier"] == other["tier"] == "fitted" and one["because"] == other["because"]
within = 0
for run in runs:
    f = by[(run["param.n"], run["param.batch"], run["param.kind"])]
    assert f["low_s"] < f["total_s"] < f["high_s"] and not f["extrapolates"] and not f["notes"], f
    assert len(f["nearest"]) == 3 and f["params"]["note"] == "plain"
    assert 0.6 < f["total_s"] / run["wall_s"] < 1.6, (f, run)
    within += 0.9 * f["low_s"] <= run["wall_s"] <= 1.1 * f["high_s"]
assert len(runs) == 4 and within >= 3, within
P
# what the answer rests on; newer runs; a setting that was measured
ok orch predict --experiment fit -x n=300,batch=200,kind=fast
has 'trained on 12 runs of 12 settings'
has nearest
has '90 % interval'
has 'note: plain, as in all runs'
says "4 runs are newer than predictor 'fit'"
ok orch predictor train --where 'experiment = fit'
ok orch predict --experiment fit -x n=300,batch=128,kind=fast
has 'tier measured: 1 run of this setting'
says_not newer
# beyond what was measured: wider, and said
ok orch predict --experiment fit -x n=300,4000,batch=128,kind=fast --json
printf '%s' "$out" | python3 -c '
import json, sys
near, far = json.load(sys.stdin)["predictions"]
width = lambda f: f["high_s"] / f["low_s"]
assert far["extrapolates"] and "n = 4000 was not measured (measured: 100 to 400)" in far["notes"][0], far
assert width(far) > 2 > width(near) or width(far) > 2 * width(near), (width(near), width(far))
' || _fail 'an extrapolation is not said'
ok orch predict --experiment fit -x n=300,batch=200,kind=rough
has 'extrapolation: kind = rough was not measured (measured: exact, fast), so the interval is wider'
ok orch predict --experiment fit -x n=300,batch=200,kind=rough,fast --json
printf '%s' "$out" | python3 -c '
import json, sys
rough, fast = json.load(sys.stdin)["predictions"]
assert rough["high_s"] / rough["low_s"] > 1.5 * fast["high_s"] / fast["low_s"], (rough, fast)
' || _fail 'the interval of an unseen text is not wider'
ok orch plan fits.recipe fit -x n=400000 --json
same "$(json trials.0.forecast)" null
# wrong questions
wrong() {
    fails 2 orch predict --experiment fit $1
    says "$2"
}
wrong '-x n=300,batsh=1' "have no parameter 'batsh'"
says "did you mean 'batch'?"
wrong '-x n=many' "'many' is not a number for 'n'"
says 'measured: 100 to 400'
wrong '-x 300' "'300' has no '='"
wrong '-x n=300 -x n=400' "'n' is given twice"
wrong '-x n=300,kind=' "'' is not a value for 'kind'"
wrong '-x n=300' "no value is given for parameter 'batch' (measured: 64 to 256), 'kind' (measured: exact, fast)"
says 'add -x batch='
wrong '-x n=300 --gpu V100' "'--gpu' excludes '--experiment'"
fails 2 orch predict -x n=300
says '--experiment NAME'
# another version of the script is another program: plan does not use the predictor of this one
sed -i 's/1.0.0/2.0.0/' fit.plugin
ok orch plan fits.recipe fit -x n=250 -x batch=128 --json
same "$(json trials.0.forecast)" null
