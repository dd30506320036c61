# States of several frames (plugin replay, frame_stack): the results equal those of an environment that stacks the
# frames itself, to the last digit, for lists and planes; the buffer stores each frame once.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
orch plugin show replay >/dev/null 2>&1 || skip 'plugin replay is not built here'
cp "$SOURCE/tests/data/env/walk.py" "$SOURCE/tests/data/env/stack.py" .
# the same walk as planes of bytes: where it is, and how many steps it has taken
sed -e 's/"shape": \[2\], "type": "float"/"shape": [4, 3, 2], "type": "bytes"/' -e 's/\[place, steps\]/planes(place, steps)/' walk.py >planes.py
sed -i 's/^place = steps = 0/def planes(place, steps):\n    return [v for i in range(12) for v in (int(i == (place + 30) % 12), int(i <= steps % 12))]\n\n\nplace = steps = 0/' planes.py
with='envs: 2, steps: 900, learning_starts: 100, epsilon_steps: 400, net: "mlp:16", batch: 16, capacity: 2000, sampling: proportional'
cat >r.recipe <<R
format: 1
recipe: r
experiments:
  list_inside: { plugin: replay, with: { $with, frame_stack: 3, program: "python3 $SCRATCH/w/walk.py" } }
  list_outside: { plugin: replay, with: { $with, program: "python3 $SCRATCH/w/stack.py 3 python3 $SCRATCH/w/walk.py" } }
  planes_inside: { plugin: replay, with: { $with, frame_stack: 4, program: "python3 $SCRATCH/w/planes.py" } }
  planes_outside: { plugin: replay, with: { $with, program: "python3 $SCRATCH/w/stack.py 4 python3 $SCRATCH/w/planes.py" } }
  actors: { plugin: replay, with: { environment: catch, net: "mlp:32", frame_stack: 2, actors: 2, envs: 2, steps: 3000, learning_starts: 500, capacity: 3000, sampling: proportional } }
R
ok orch run r.recipe -q
ok orch export --what points -c experiment --format json
cp "$SCRATCH/out" points.json
ok orch export --format json
python3 - points.json "$SCRATCH/out" <<'P' || _fail 'frame stacks'
import json, sys
found, bytes_of = {}, {}
for p in json.load(open(sys.argv[1])):
    if p["metric"] != "timed_return" and not p["metric"].startswith("system/"):
        found.setdefault((p["experiment"], p["metric"]), []).append((p["step"], p["value"]))
for r in json.load(open(sys.argv[2])):
    found.update({(r["experiment"], k): r[k] for k in ("result.best_return", "result.final_return", "result.episodes", "result.updates") if r[k] is not None})
    bytes_of[r["experiment"]] = r["result.buffer_bytes"]
compared = 0
for (experiment, name), value in found.items():
    kind, _, side = experiment.partition("_")
    if side == "inside":
        assert value == found[kind + "_outside", name], (kind, name, value, found[kind + "_outside", name])
        compared += 1
assert compared >= 2 * 8 and len(found["list_inside", "loss"]) > 100, compared
# a record has one frame and 16 bytes: 8 and 24 bytes of floats, 24 and 96 bytes of planes; priorities take 4.25 bytes a step
for kind, one, all_ in (("list", 8, 24), ("planes", 24, 96)):
    assert bytes_of[kind + "_inside"] == 2000 * (one + 16 + 4.25) and bytes_of[kind + "_outside"] == 2000 * (all_ + 16 + 4.25), bytes_of
P
printf 'format: 1\nrecipe: b\nexperiments:\n  b: { plugin: replay, with: { frame_stack: 40, capacity: 300, batch: 8, learning_starts: 10 } }\n' >b.recipe
fails 2 orch run b.recipe -q
says 'must be at least n_step + frame_stack + 2'
