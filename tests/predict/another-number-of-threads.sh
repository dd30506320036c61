# Where nothing ran on the plan's number of threads, runs on another one count: the forecast is fitted, not measured, and its interval has the ratio of
# the numbers to each side, a factor of 2 at least. A law over such runs is as wide.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
sleeps naps '0.1, 0.2, 0.3' 1
ok orch run naps.recipe -q
ok orch plan naps.recipe -x seconds=0.1 --force --json
same "$(json trials.0.forecast.tier)" measured
threads=$(json trials.0.device_key | sed 's/.*, \([0-9]*\) threads*$/\1/')
planned() { # THREADS LEAST MOST: of the runs; of the factor to each side
    python3 - "$1" <<'P' || _fail 'the store'
import glob, re, sqlite3, sys
db = sqlite3.connect(glob.glob(".orch/*.db")[0])
for name, in db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'run'").fetchall(): # an ended run never changes
    db.execute('DROP TRIGGER "%s"' % name)
for run, key in db.execute("SELECT id, device_key FROM run").fetchall():
    db.execute("UPDATE run SET device_key = ? WHERE id = ?", (re.sub(r"\d+ threads?$", sys.argv[1] + " threads", key), run))
db.commit()
P
    ok orch plan naps.recipe -x seconds=0.1,0.25 --force --json
    python3 - "$2" "$3" "$out" <<'P' || _fail "runs on $1 threads"
import json, sys
least, most, plan = map(json.loads, sys.argv[1:])
forecasts = [t["forecast"] for t in plan["trials"]]
assert [f["model"] for f in forecasts] == ["repeats", "law"], forecasts
for f in forecasts:
    assert f["tier"] == "fitted" and "on another number of threads" in f["because"], f
    assert f["high_s"] / f["total_s"] >= least and f["total_s"] / f["low_s"] >= least, f
assert forecasts[0]["high_s"] / forecasts[0]["total_s"] < most, forecasts
P
}
planned $((4 * threads)) 4 6
[ "$threads" = 1 ] || planned $((3 * threads / 2)) 2 3.9
