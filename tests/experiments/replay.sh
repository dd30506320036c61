# The plugin replay: agents learn, equal seeds give equal results, a program can be the environment, and bad input is
# refused.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
orch plugin show replay >/dev/null 2>&1 || skip 'plugin replay is not built here'
cp "$SOURCE/tests/data/env/walk.py" .
cat >r.recipe <<R
format: 1
recipe: r
experiments:
  table: { plugin: replay, with: { agent: tabular, environment: gridworld, envs: 1, discount: 1, exploration: fixed, epsilon_end: 0.1, steps: 20000 } }
  catch: { plugin: replay, with: { environment: catch, net: "mlp:32", steps: 4000, learning_starts: 500, epsilon_steps: 1500, capacity: 3000 }, sweep: { sampling: [uniform, proportional, rank] }, repeat: 2 }
  dueling: { plugin: replay, with: { environment: catch, net: "mlp:32", steps: 6000, learning_starts: 500, exploration: per_actor, dueling: true, double: false, solved_return: 0.2, stop_when_solved: true } }
  walk: { plugin: replay, with: { program: "python3 $SCRATCH/w/walk.py", envs: 2, steps: 2000, learning_starts: 200, epsilon_steps: 1000, solved_return: 0.4 } }
R
ok orch run r.recipe table catch dueling -q
ok orch run r.recipe walk -q
ok orch export --format json
cp "$SCRATCH/out" first.json
ok orch run r.recipe table catch dueling walk -q --db again.db
ok orch export --format json --db again.db
python3 - first.json "$SCRATCH/out" <<'P' || _fail 'what agents learn'
import json, sys
runs = []
for path in sys.argv[1:]:
    runs.append({(r["experiment"], r["repeat"], r["param.sampling"]): {k: v for k, v in r.items() if v is not None and k.startswith(("result.", "metric."))}
                 for r in json.load(open(path))})
clocks = ("result.training_time", "result.frames_per_s", "result.samples_per_s", "result.waiting_share", "result.time_to_solve", "metric.timed_return")
assert len(runs[0]) == 9 and runs[0].keys() == runs[1].keys(), runs[0].keys()
for key, first in runs[0].items():
    # equal seeds: every figure but those of the clock is equal to the last digit
    again = runs[1][key]
    assert {k: v for k, v in first.items() if k not in clocks} == {k: v for k, v in again.items() if k not in clocks}, (key, first, again)
    # 13 steps along the cliff, where a tenth of the actions is random; random play of catch returns -0.6, of the walk -1.5
    least = {"table": -100, "catch": 0.3, "dueling": 0.2, "walk": 0.4}[key[0]]
    assert first["result.best_return"] >= least, (key, first)
    if key[0] != "table":
        assert 0 <= first["result.waiting_share"] < 1 and first["result.updates"] > 0, first
one, two = (runs[0]["catch", repeat, "uniform"] for repeat in (1, 2))
assert one["result.episodes"] == two["result.episodes"] and one["metric.loss"] != two["metric.loss"], (one, two)
stopped = runs[0]["dueling", 1, "uniform"]
assert stopped["result.solved"] == 1 and stopped["result.steps_to_solve"] == stopped["result.frames"] < 6000, stopped
P
ok orch run r.recipe catch dueling --smoke
says '3 ok'

# what it refuses, before a trial runs where parameters say so
refuses() { # PARAMETERS MESSAGE
    printf 'format: 1\nrecipe: b\nexperiments:\n  b: { plugin: replay, with: { %s } }\n' "$1" >b.recipe
    fails 2 orch run b.recipe -q
    says "$2"
}
refuses 'capacity: 0' 'capacity'
refuses 'capacity: 32, batch: 64, learning_starts: 10' 'a batch has more steps than the replay buffer holds'
refuses 'capacity: 1000, learning_starts: 2000' "'learning_starts' must be at most 'capacity'"
refuses 'steps: 500' "'learning_starts' must be at most 'capacity' and below 'steps'"
refuses 'envs: 50, capacity: 100, batch: 8, learning_starts: 10' 'must be at least n_step'
refuses 'agent: tabular' "agent 'tabular' needs an environment with numbered states"
refuses 'environment: pong' "unknown environment 'pong' (known: cartpole"
refuses 'net: "mlp:0"' "'0' is not a size"
printf 'format: 1\nrecipe: b\nexperiments:\n  b: { plugin: replay, with: { capacity: 2000000000, environment: breakout } }\n' >b.recipe
fails 1 orch run b.recipe -q
says 'records need'
says 'of memory are free'
printf 'format: 1\nrecipe: b\nexperiments:\n  b: { plugin: replay, with: { program: "python3 nowhere.py", envs: 1 } }\n' >b.recipe
fails 1 orch run b.recipe -q
says 'nowhere.py'
# an environment whose reward is not a number
sed 's/"reward": 1 if place == 3 else -0.1/"reward": float("nan")/' walk.py >nan.py
printf 'format: 1\nrecipe: b\nexperiments:\n  b: { plugin: replay, with: { program: "python3 %s/w/nan.py", envs: 1 } }\n' "$SCRATCH" >b.recipe
fails 1 orch run b.recipe -q
says 'nan.py'
