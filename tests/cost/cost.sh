#!/bin/bash
# 'orch cost' sums hours x devices x the price of the day by person, GPU and week.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
sleeps s '0, 0.001, 0.002'
ORCH_USER='Ada Lovelace <ada@example.org>' ok orch run s.recipe -q
ORCH_USER=bob ok orch run s.recipe -q --force
ORCH_USER=bob fails 1 orch try -q -- false
# as if they had been made on GPUs: 1, 2 and 3 hours each
python3 - <<'P'
import sqlite3
db = sqlite3.connect(".orch/results.db")
for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
    db.execute(f"DROP TRIGGER {name}")
day = 86400 * 10**9
at = 1732492800 * 10**9  # 2024-11-25, a Monday, 00:00 UTC
rows = [r for (r,) in db.execute("SELECT id FROM run ORDER BY id")]
places = ["1x Tesla V100-SXM2-16GB", "2x Tesla V100-SXM2-16GB", "1x Tesla K80", "1x Tesla K80", "AMD EPYC, 4 threads", "1x My Card", "1x Tesla K80"]
for i, (run, place) in enumerate(zip(rows, places)):
    db.execute("UPDATE run SET device_key = ?, wall_ms = ?, ended = ? WHERE id = ?", (place, 3600e3 * (i % 3 + 1), at - 1 if i == 0 else at + i, run))
db.commit()
P
ok orch cost --json
same "$(json total.runs) $(json total.lost_runs) $(json total.lost_hours)" '7 1 1.0'
same "$(json total.hours) $(json total.device_hours) $(json total.unpriced_hours)" '13.0 15.0 5.0'
# V100 $0.55 an hour x 5 h, K80 $0.90 x (3 + 1 + 1) h: the prices of 2024
python3 -c '
import json, sys
d = json.load(sys.stdin)
assert abs(d["total"]["cost_usd"] - (5 * 0.55 + 5 * 0.9)) < 1e-9, d["total"]
assert abs(d["total"]["lost_cost_usd"] - 0.9) < 1e-9, d["total"]
rows = {(r["who"], r["gpu"]): r for r in d["rows"]}
ada, bob = "Ada Lovelace <ada@example.org>", "bob"
assert set(rows) == {(ada, "Tesla V100-SXM2-16GB"), (ada, "Tesla K80"), (bob, "Tesla K80"), (bob, "AMD EPYC"), (bob, "My Card")}, list(rows)
assert abs(rows[ada, "Tesla V100-SXM2-16GB"]["cost_usd"] - 2.75) < 1e-9 and rows[ada, "Tesla V100-SXM2-16GB"]["device_hours"] == 5
assert rows[bob, "AMD EPYC"]["cost_usd"] is None and rows[bob, "AMD EPYC"]["unpriced_hours"] == 2
assert d["without_price"] == ["AMD EPYC", "My Card"], d["without_price"]
assert any("as of 2024" in p for p in d["prices"]) and d["allowance"] is None and d["plan"] is None, d
' <<<"$out" || _fail 'the sums are wrong'
ok orch cost
has 'Ada Lovelace'
has_not 'ada@example.org'
has 'unknown'
has_not '$0.00'
has '$2.75'
has '$7.25 + unknown'
says 'as of 2024'
says 'no price is known of: AMD EPYC; My Card'
says 'hint: give it with --price'
# a rate of one's own, for a card and for every processor; one that nobody used
ok orch cost --price 'My Card=2' --price cpu=0.5 --price T4=1 --json
same "$(json total.unpriced_hours)" 0.0
same "$(json total.cost_usd)" "14.25"
ok orch cost --price 'My Card=2' --price cpu=0.5 --price T4=1
has '$14.25'
says '--price names devices that no run used: T4'
says_not 'no price is known'
# by week (UTC) and month, since, where
ok orch cost --by week --json
same "$(json rows.0.week) $(json rows.0.runs) $(json rows.1.week) $(json rows.1.runs)" '2024-W47 1 2024-W48 6'
ok orch cost --by month,experiment,recipe,machine --json
same "$(json rows.0.month)" 2024-11
ok orch cost --since 2024-11-25 --json
same "$(json total.runs)" 6
ok orch cost --since 2024-11-25 --where 'who = bob or state != ok' --json
same "$(json total.runs)" 4
ok orch cost --since 1d --json
same "$(json total.runs)" 0
ok orch cost --where 'who = nobody'
has total
# what was removed was paid for
ok orch rm @last
ok orch cost --json
same "$(json total.runs)" 7
# a price of the lab, of two dates: the one that held
mkdir -p "$XDG_CONFIG_HOME/orch"
cat >"$XDG_CONFIG_HOME/orch/hardware.yaml" <<'H'
prices:
  - { gpu: K80, usd_per_hour: 9, as_of: 2025-01-01 }
  - { gpu: K80, usd_per_hour: 0.1, as_of: 2024-01-01 }
  - { gpu: AMD EPYC, usd_per_hour: 0.25 }
H
ok orch cost --by gpu --json
python3 -c '
import json, sys
rows = {r["gpu"]: r for r in json.load(sys.stdin)["rows"]}
assert abs(rows["Tesla K80"]["cost_usd"] - 0.5) < 1e-9 and abs(rows["AMD EPYC"]["cost_usd"] - 0.5) < 1e-9, rows
' <<<"$out" || _fail 'the own prices are wrong'
# what is wrong is said
fails 2 orch cost --by whom
says "cannot group by 'whom'"
says "did you mean 'who'"
fails 2 orch cost --by who,who
says twice
fails 2 orch cost --price V100
says 'GPU=USD'
fails 2 orch cost --price V100=-1
says 'GPU=USD'
fails 2 orch cost --since tomorrow
says "'tomorrow'"
fails 2 orch cost --since "1d' or 'a"
says "ended"
fails 2 orch cost --where 'nothing = 1'
says nothing
fails 2 orch cost --gpu T4
says 'needs a recipe'
ok orch cost s.recipe --json
same "$(json total.runs)" 6
same "$(json allowance)" null
