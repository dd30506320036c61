# A search with several metrics and a limit: its front and knee at the end, in the report and by 'orch best'; killed, it goes on.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
# error falls and latency grows with width; a large depth needs too much memory
cat >net.py <<'P'
import sys, time
width, depth = float(sys.argv[1]), int(sys.argv[2])
print("latency_ms", 2 + width * depth)
print("peak_memory", f"{depth} GiB")
print("error", round(1 / (1 + width) + 0.3 / depth, 6))
sys.stdout.flush()
time.sleep(0.05)
P
cat >net.recipe <<'R'
format: 1
recipe: net
experiments:
  net:
    program: python3 net.py ${width} ${depth}
    search: { width: "uniform(0, 10)", depth: "int(1, 8)" }
    objective:
      metrics: [min error, min latency_ms]
      subject to: peak_memory < 6GiB
      trials: 16
report:
  - { search: }
R
ok orch check net.recipe
orch run net.recipe >log 2>&1 &
job=$!
for _ in $(seq 300); do
    [ "$(orch ls --json -n 0 2>/dev/null | grep -c '"state": "ok"')" -ge 3 ] && break
    sleep 0.2
done
kill -9 "$job"
wait "$job" || true
ok orch run net.recipe
says 'front of 16 settings (min error, min latency_ms)'
says 'the knee'
ok orch run net.recipe
says 'nothing to run'
# what is said, against all pairs of what is stored
ok orch ls --json -n 0
front=$(python3 - "$out" <<'P'
import json, sys
rows = []
for r in json.loads(sys.argv[1])['runs']:
    w, d = float(r['setting']['width']), int(r['setting']['depth'])
    if r['state'] == 'ok' and d < 6:
        rows.append((round(1 / (1 + w) + 0.3 / d, 6), 2 + w * d))
rows = sorted(set(rows))
print(len([a for a in rows if not any(b != a and b[0] <= a[0] and b[1] <= a[1] for b in rows)]))
P
)
ok orch run net.recipe
says ": $front settings that no other beats in all"
listed=$(sed -n 's/^  net .*: error \([0-9.]*\), .*/\1/p' <<<"$err")
same "$listed" "$(sort -g <<<"$listed")" 'the front, by its first metric'
ok orch report net.recipe --json
has "Pareto front of net: $front of 16 settings. Its knee"
has 'net: hypervolume by settings'
has 'net: front'
same "$(python3 -c 'import json, sys
def charts(at):
    if isinstance(at, dict):
        if str(at.get("title")).endswith(": front"):
            yield at
        at = list(at.values())
    for part in at if isinstance(at, list) else []:
        yield from charts(part)
series = {s["name"]: s["points"] for c in charts(json.load(sys.stdin)) for s in c["series"]}
print(len(series["on the front"] + series["knee"]), len(series["border of the front"]) // 2 + 1)' <<<"$out")" "$front $front" 'points of the picture'
ok orch best 'min error, min latency_ms' -w 'depth < 6'
has "front of "
has "$front settings that no other beats in all"
has 'knee'
ok orch best 'min error, min latency_ms' -w 'depth < 6' --json
same "$(python3 -c 'import json, sys
print(sum(s["on_front"] for s in json.load(sys.stdin)["settings"]))' <<<"$out")" "$front" 'the front as JSON'
