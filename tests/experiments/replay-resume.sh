# A training of the plugin replay that is interrupted resumes from its checkpoint: with tabular and deep Q-learning
# every number except times equals the uninterrupted training to the last digit. Damaged checkpoints are reported.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
orch plugin show replay >/dev/null 2>&1 || skip 'plugin replay is not built here'
cp "$SOURCE/tests/data/env/walk.py" .
dqn='plugin: replay, with: { checkpoint_every: 40ms, net: "mlp:32", batch: 32, sticky: 0.1, capacity: 4000'
cat >r.recipe <<R
format: 1
recipe: r
experiments:
  table: { plugin: replay, with: { checkpoint_every: 40ms, agent: tabular, environment: gridworld, envs: 4, steps: 4000000, exploration: fixed, epsilon_end: 0.1 } }
  uniform: { $dqn, dueling: true, steps: 80000 } }
  proportional: { $dqn, sampling: proportional, environment: breakout, steps: 12000, target_blend: 0.5 } }
  broken: { $dqn, steps: 80001 } }
  rank: { $dqn, sampling: rank, environment: acrobot, steps: 6000 } }
  apex: { $dqn, sampling: proportional, actors: 2, envs: 2, steps: 30000 } }
  walk: { plugin: replay, with: { checkpoint_every: 40ms, program: "python3 $SCRATCH/w/walk.py", envs: 2, steps: 3000, learning_starts: 200 } }
R
# interrupt EXPERIMENT: starts it, and sends SIGTERM to orch once it has written a checkpoint
interrupt() {
    orch run r.recipe "$1" -q >/dev/null 2>&1 &
    local pid=$! i=0
    until [ -n "$(ls .orch/results.db.d/checkpoints/*/training.safetensors 2>/dev/null)" ]; do
        i=$((i + 1))
        [ $i -lt 3000 ] && kill -0 $pid 2>/dev/null || _fail "$1 wrote no checkpoint"
        sleep 0.01
    done
    kill -TERM $pid
    wait $pid && _fail "$1 ended before it was interrupted"
    ok orch ls --where "experiment = $1" --json -n 0
    same "$(json runs.0.state)" preempted "$1"
    folder=$(dirname .orch/results.db.d/checkpoints/*/training.safetensors)
}
for e in table uniform proportional rank; do
    interrupt $e
    ok orch run r.recipe $e -q
    ok orch show @last
    has 'an earlier attempt had taken'
    [ ! -e "$folder" ] || _fail "the checkpoint of $e stayed"
done
ok orch run r.recipe table uniform proportional rank -q --db whole.db
for db in .orch/results.db whole.db; do
    ok orch export --where 'state = ok' --what points -c experiment --format json --db $db
    cp "$SCRATCH/out" "points.$(basename $db)"
    ok orch export --where 'state = ok' --format json --db $db
    cp "$SCRATCH/out" "runs.$(basename $db)"
done
python3 - <<'P' || _fail 'a resumed training'
import json
clocks = ("training_time", "frames_per_s", "samples_per_s", "waiting_share", "time_to_solve", "timed_return")
figures = []
for db in ("results.db", "whole.db"):
    found = {}
    for p in json.load(open("points." + db)):
        if p["metric"] not in clocks and not p["metric"].startswith("system/"):
            found.setdefault((p["experiment"], p["metric"]), []).append((p["step"], p["value"]))
    for r in json.load(open("runs." + db)):
        found.update({(r["experiment"], k): v for k, v in r.items() if k.startswith("result.") and k[7:] not in clocks})
    figures.append(found)
lengths = {k: len(v) for k, v in figures[1].items() if isinstance(v, list)}
assert len(lengths) == 4 * 5 and all(v > 5 for v in lengths.values()), lengths
assert figures[0] == figures[1], [k for k in figures[1] if figures[0].get(k) != figures[1][k]]
P

# actors and programs begin new episodes; the learner goes on
for e in apex walk; do
    interrupt $e
    ok orch run r.recipe $e -q
    ok orch show @last
    has 'an earlier attempt had taken'
    ok orch export --where "experiment = $e and state = ok" --format json
    python3 -c "import json, sys; [r] = json.load(sys.stdin); assert r['result.frames'] == r['param.steps'], r" <"$SCRATCH/out" || _fail "frames of $e"
done

# a checkpoint that was cut short, of another shape, or without its buffer
interrupt broken
cp -r "$folder" kept
keep() {
    rm -rf "$folder"
    cp -r kept "$folder"
}
head -c 300 kept/training.safetensors >"$folder/training.safetensors"
fails 1 orch run r.recipe broken -q
says 'cannot continue from the checkpoint in'
says 'training.safetensors'
says 'remove this folder'
keep
for b in kept/*.buffer; do head -c 5000 "$b" >"$folder/$(basename "$b")"; done
fails 1 orch run r.recipe broken -q
says "$(basename kept/*.buffer)': the file is truncated"
keep
rm "$folder"/*.buffer
fails 1 orch run r.recipe broken -q
says 'cannot open the replay buffer'
keep
python3 - "$folder/training.safetensors" <<'P' # another name for the field 'step'
import sys
data = open(sys.argv[1], "rb").read()
open(sys.argv[1], "wb").write(data.replace(b'"step"', b'"stop"'))
P
fails 1 orch run r.recipe broken -q
says "'step' of the checkpoint has 0 bytes, expected 8"
keep
ok orch run r.recipe broken -q
