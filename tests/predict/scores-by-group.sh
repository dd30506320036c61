# Scores by what was asked and over time, runs under foreign load apart, and the calibration chart.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
fails 3 orch predictor score --chart c.svg --db none.db
printf 'plugin: count\nversion: 1.0.0\nabout: counts\nlicence: MIT\ncommand: [sleep, "0.0${n}"]\nmetrics: any\nparameters:\n  n: { type: int }\n' >count.plugin
printf 'format: 1\nrecipe: w\nexperiments:\n  e:\n    plugin: ./count.plugin\n    sweep: { n: [1, 2, 3, 5, 6, 7] }\n' >w.recipe
ok orch run w.recipe -q
# a setting that had run, one between the runs, one beyond them
ok orch run w.recipe -q --force -x n=3
ok orch run w.recipe -q -x n=4
ok orch run w.recipe -q -x n=9
ok orch predictor score --by question --json
python3 - "$out" <<'P' || _fail 'the questions are wrong'
import json, sys
rows = json.loads(sys.argv[1])["scores"]
got = {(r["question"], r["made"]) for r in rows}
for question in ("setting that had run", "between the runs", "beyond the runs"):
    assert (question, "before the run") in got, (question, got)
P
# two of the forecasts are a month older, and one run had the CPUs for itself no more
sqlite3 .orch/results.db "UPDATE forecast SET made = made - 31 * 86400 * 1000000000 WHERE run IN (SELECT key FROM run WHERE id >= 7 ORDER BY id LIMIT 2)"
disturb 'id > 7'
ok orch predictor score --by time --json
python3 - "$out" <<'P' || _fail 'the times are wrong'
import json, sys
rows = json.loads(sys.argv[1])["scores"]
periods = {r["from"] for r in rows if r["from"] != "all"}
assert len(periods) == 2 and all(len(p) == 10 for p in periods), periods  # weeks, by their Mondays
assert {r["load"] for r in rows} == {"own", "foreign"} or {r["load"] for r in rows} == {"foreign"}, rows
P
ok orch predictor score --by model
has foreign
ok orch predictor score --chart calibration.svg --json
grep -q 'quantile of the forecast' calibration.svg || _fail 'the chart has no axis'
for series in 'own load: ' 'foreign load: ' calibrated; do grep -q "$series" calibration.svg || _fail "the chart lacks $series"; done
fails 2 orch predictor score --by weekday
says 'setting, question, time, model, where or network'
