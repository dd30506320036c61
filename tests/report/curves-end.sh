#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# On the page and in reports the mean of several curves ends where the first of them ends, because beyond it would only
# contain the remaining runs. Here the worse runs end early, so that such a mean would drop.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
cat >curve.py <<'P'
import sys
run = int(sys.argv[1])
is_worse = run % 3 == 0
for step in range((40 + 5 * (run % 2) if is_worse else 100) + 1):
    print(f"step {step} loss {(3 if is_worse else 1) + 2 / (1 + step / 10) + 0.05 * (run % 4):.5f}")
P
cat >curve.plugin <<'Y'
plugin: curve
command: [python3, curve.py, "${repeat}"]
metrics: { loss: { better: min, step: step } }
Y
cat >c.recipe <<'Y'
format: 1
recipe: c
experiments:
  many: { plugin: ./curve.plugin, repeat: 8 }
  few: { plugin: ./curve.plugin, repeat: 3 }
  whole: { plugin: ./curve.plugin, repeat: 2 }
report:
  - { title: All, plot: { x: step, y: loss, by: experiment } }
Y
git add -A
git commit -qm first
ok orch run c.recipe
ok orch report c.recipe
has 'many (8 runs, to step 40: 2 ended before step 100)'
has 'few (3 runs, to step 45: 1 ended before step 100)'
has_not 'whole ('
printf '%s' "$out" | tr -s ' \n' ' ' | grep -q 'a mean ends at the last step that all of its runs reached' || _fail 'where means end'
ok orch report c.recipe --json
ends() { python3 -c '
import json, sys
def series(of):
    if isinstance(of, dict):
        yield from of.get("series", [])
        of = list(of.values())
    for part in of if isinstance(of, list) else []:
        yield from series(part)
for s in series(json.load(sys.stdin)):
    x = [p["x"] for p in s["points"]]
    print(s["name"], s["role"] or "run", int(min(x)), int(max(x)), max(p["n"] for p in s["points"]))' <<<"$out" | sort | uniq -c | tr -s ' '; }
same "$(ends)" " 1 few measured 0 45 3
 2 few run 0 100 1
 1 few run 0 45 1
 1 many measured 0 40 8
 6 many run 40 100 1
 1 many run 40 45 1
 1 whole measured 0 100 2
 2 whole run 0 100 1" 'the lines of the chart'

# the page's bands end at the same steps, also in a range of the steps
ok orch ls -n 0 --where experiment=many --json
keys=$(python3 -c 'import json, sys; print(",".join(r["key"] for r in json.load(sys.stdin)["runs"]))' <<<"$out")
orch serve --read-only --port 0 >"$SCRATCH/served" 2>/dev/null &
server=$!
trap 'was=$?; kill $server 2>/dev/null; cleanup $was' EXIT
until [ -s "$SCRATCH/served" ] || ! kill -0 $server 2>/dev/null; do sleep 0.05; done
band() { ok python3 -c '
import json, sys, urllib.request
a = json.load(urllib.request.urlopen(sys.argv[1]))
steps = [s for s, c in zip(a["step"], a["centre"]) if c is not None]
print(int(a["end"]), a["ended"], max(steps, default=None), max(a["step"]), sum(r["value"][-1] is not None for r in a["runs"]))' "$(head -n 1 "$SCRATCH/served")api/v1/band?runs=$keys&metric=loss${1-}"; }
band
same "$out" '40 8 runs, to step 40: 2 ended before step 100 40 100 6'
band '&from=30&to=60'
same "$out" '40 8 runs, to step 40: 2 ended before step 100 40 60 6'
band '&from=50'
same "$out" '40 8 runs, to step 40: 2 ended before step 100 None 100 6'
kill $server
wait $server
# a time is said as a time
sed -i 's/print(f"step {step} loss {\(.*\):.5f}")/print("{\\"ms\\": %d, \\"loss\\": %.5f}" % (step, \1))/' curve.py
sed -i 's/step: step/step: ms/' curve.plugin
sed -i 's/x: step/x: ms/' c.recipe
git commit -qam time
ok orch run c.recipe -q
ok orch report c.recipe
has 'many (8 runs, to 40 ms: 2 ended before 100 ms)'
