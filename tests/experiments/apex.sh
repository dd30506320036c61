# The plugin replay with actors as processes: they learn, the death of one is noted, and no process or file is left.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
orch plugin show replay >/dev/null 2>&1 || skip 'plugin replay is not built here'
# walks as tests/data/env/walk.py does; the program that makes the folder 'died' ends after 100 steps
sed -e 's/^import json/import json, os/' -e 's/^        steps += 1/        steps += 1; total += 1/' -e 's/^place = steps = 0/place = steps = total = 0/' \
    "$SOURCE/tests/data/env/walk.py" >fragile.py
cat >>fragile.py <<'P'
    if total == 100 and not os.path.exists(sys.argv[1]):
        os.mkdir(sys.argv[1])
        sys.exit(5)
P
sed 's/    if total == 100.*/    if total == 100:/; /os.mkdir/d' fragile.py >mortal.py
cat >r.recipe <<R
format: 1
recipe: r
experiments:
  catch:   { plugin: replay, with: { environment: catch, net: "mlp:32", envs: 2, steps: 6000, learning_starts: 500, capacity: 3000, train_every: 2, sampling: proportional, exploration: per_actor, pull_every: 10 }, sweep: { actors: [1, 3] } }
  fragile: { plugin: replay, with: { program: "python3 $SCRATCH/w/fragile.py $SCRATCH/w/died", actors: 2, envs: 1, steps: 2000, learning_starts: 200, train_every: 2, capacity: 3000 } }
  mortal:  { plugin: replay, with: { program: "python3 $SCRATCH/w/mortal.py", actors: 2, envs: 1, steps: 2000, learning_starts: 200, train_every: 2, capacity: 3000 } }
R
ok orch run r.recipe catch -q
ok orch run r.recipe fragile -q
fails 1 orch run r.recipe mortal -q
says 'all 2 actors have ended'
ok orch export --format json
python3 - "$SCRATCH/out" <<'P' || _fail 'what actors do'
import json, sys
runs = [r for r in json.load(open(sys.argv[1])) if r["experiment"] != "mortal"]
assert len(runs) == 3, runs
for r in runs:
    # every step of a budget arrives; two steps an update, as without actors, but for the last few
    assert r["result.frames"] == r["param.steps"] and r["result.updates"] * 2 <= r["result.frames"] - r["param.learning_starts"], r
    assert r["result.mean_staleness"] >= 0 and r["result.max_staleness"] >= r["result.mean_staleness"], r
    assert 0 <= r["result.idle_share"] and 0 <= r["result.waiting_share"] < 1, r
    assert r["result.actors_died"] == (1 if r["experiment"] == "fragile" else 0), r
    if r["experiment"] == "catch": # random play returns -0.6
        assert r["result.best_return"] > 0, r
P
key=$(orch export --where 'experiment = fragile' --format json | python3 -c 'import json, sys; print(json.load(sys.stdin)[0]["key"])')
ok orch show "$key"
has 'ended with status 1; training goes on with 1 of 2'
ps -e -o args= >processes
if grep -q "$SCRATCH" processes; then _fail 'a program of an actor stayed'; fi
ok orch run r.recipe catch --smoke
says '2 ok'
printf 'format: 1\nrecipe: b\nexperiments:\n  b: { plugin: replay, with: { agent: tabular, environment: gridworld, actors: 2 } }\n' >b.recipe
fails 2 orch run b.recipe -q
says "agent 'tabular' cannot have actors"
fails 2 "$BUILD/plugins/common/orch-replay-actor"
says 'only a learner of plugin replay'
