# A metric that each trial measured at several sizes, which are a list parameter of the metric's step unit, is drawn at all
# of them, in a report and by 'orch plot'. A list that is no step unit stays one place.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
cat >sizes.plugin <<'Y'
command: [sh, sizes.sh, "${factor}"]
parameters:
  bytes: { type: "list of bytes", default: [1KiB, 4KiB, 16KiB] }
  factor: { type: int, default: 1 }
metrics:
  speed: { unit: GB/s, better: max, step: bytes }
  total: { unit: GB/s, better: max }
Y
cat >sizes.sh <<'S'
for size in 1024 4096 16384; do echo "{\"step\": $size, \"speed\": $((size * $1))}"; done
echo "{\"total\": $1}"
S
cat >s.recipe <<'R'
format: 1
recipe: s
experiments:
  one: { plugin: ./sizes.plugin, sweep: { factor: [1, 2] } }
report:
  - { title: sizes, plot: { x: bytes, y: speed, by: factor, log_x: true, log_y: true } }
  - { title: whole, plot: { x: bytes, y: total, by: factor } }
R
ok orch run s.recipe -q
ok orch report s.recipe --json
python3 - "$SCRATCH/out" <<'P' || _fail 'the sizes are not drawn'
import json, sys
sizes, whole = [next(b["chart"] for b in s["blocks"] if b.get("chart")) for s in json.load(open(sys.argv[1]))["sections"]]
assert sizes["kind"] == "line" and sizes["x"] == "bytes", sizes
lines = {s["name"]: [(p["x"], p["y"]) for p in s["points"]] for s in sizes["series"]}
assert lines == {"factor=%d" % f: [(n, n * f) for n in (1024, 4096, 16384)] for f in (1, 2)}, lines
assert whole["kind"] == "bar" and all(len(s["points"]) == 1 for s in whole["series"]), whole
P
ok orch plot --where 'experiment=one' --x bytes --y speed --by factor --json
python3 - "$SCRATCH/out" <<'P' || _fail 'the sizes of runs are not drawn'
import json, sys
text = open(sys.argv[1]).read()
assert text.count('"x": 4096') == 2 or text.count('"x": 4096.0') == 2, text
P
