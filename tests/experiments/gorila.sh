# GORILA (plugin replay, architecture gorila): the learners' gradients train the server's parameters, the reported
# numbers are consistent, and bad input is refused.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
orch plugin show replay >/dev/null 2>&1 || skip 'plugin replay is not built here'
cat >r.recipe <<'R'
format: 1
recipe: r
experiments:
  catch: { plugin: replay, with: { architecture: gorila, environment: catch, net: "mlp:32", actors: 2, envs: 2, learners: 2, steps: 6000, learning_starts: 500, epsilon_steps: 2000, capacity: 3000, server_shards: 3, frame_stack: 2 }, sweep: { replay_memory: [local, shared] } }
  cartpole: { plugin: replay, with: { architecture: gorila, net: "mlp:64", actors: 2, envs: 2, learners: 2, steps: 20000, learning_starts: 500, epsilon_steps: 3000, lr: 0.003, batch: 32, value_limit: 100 } }
  strict: { plugin: replay, with: { architecture: gorila, environment: catch, net: "mlp:32", actors: 4, envs: 1, learners: 4, steps: 3000, learning_starts: 500, capacity: 3000, learner_pull_every: 10, gradient_age: 2, target_period: 50 } }
  apex: { plugin: replay, with: { environment: catch, net: "mlp:32", actors: 2, envs: 2, steps: 3000, learning_starts: 500, capacity: 3000, sampling: proportional, exploration: per_actor } }
R
ok orch run r.recipe -q
ok orch export --format json
python3 - "$SCRATCH/out" <<'P' || _fail 'what GORILA does'
import json, sys
runs = {(r["experiment"], r["param.replay_memory"]): r for r in json.load(open(sys.argv[1]))}
assert len(runs) == 5, runs.keys()
for (name, memory), r in runs.items():
    get = lambda key: r["result." + key]
    assert get("frames") == r["param.steps"], r
    if name == "apex": # one learner applies its own gradients; steps are sent, and parameters are pulled
        assert get("gradient_bytes") == get("batch_bytes") == 0 and get("max_gradient_staleness") == 0 and get("learners") == 1, r
        assert get("epsilon_range") > 0.39 and get("step_bytes") > 0 and get("parameter_bytes") > 0, r
        continue
    # each gradient is applied, or dropped for one of two reasons, or was on its way at the end: at most three for each learner
    lost = get("gradients") - get("updates") - get("gradients_dropped") - get("losses_dropped")
    assert 0 <= lost <= 3 * r["param.learners"], (lost, r)
    # two steps a gradient, as without learners
    assert get("gradients") * 2 <= get("frames") - r["param.learning_starts"] + 4 * r["param.learners"], r
    assert get("max_gradient_staleness") >= get("mean_gradient_staleness") >= 0 and get("max_staleness") >= get("mean_staleness") >= 0, r
    assert get("epsilon_range") == 0 and get("gradient_bytes") > 0, r
    assert (get("batch_bytes") > 0) == (memory == "shared"), r
    kinds = get("step_bytes") + get("batch_bytes") + get("gradient_bytes") + get("parameter_bytes")
    assert abs(get("moved_bytes") - kinds) < 1e-6 * kinds, r
    assert get("learners_died") == get("actors_died") == 0, r
# random play of catch returns -0.6, and of CartPole 22
assert runs["catch", "local"]["result.best_return"] > 0 and runs["catch", "shared"]["result.best_return"] > 0, runs
assert runs["cartpole", "local"]["result.best_return"] > 45, runs["cartpole", "local"]
# a learner that pulls every ten gradients sends old ones; those older than two updates are dropped
strict = runs["strict", "local"]
assert strict["result.gradients_dropped"] > 0 and strict["result.max_gradient_staleness"] > 2, strict
P
ok orch run r.recipe --smoke
says '5 ok'

refuses() { # PARAMETERS MESSAGE
    printf 'format: 1\nrecipe: b\nexperiments:\n  b: { plugin: replay, with: { %s } }\n' "$1" >b.recipe
    fails 2 orch run b.recipe -q
    says "$2"
}
refuses 'architecture: gorila' "architecture 'gorila' needs 'actors'"
refuses 'actors: 2, learners: 2' "architecture 'apex' has only one learner"
refuses 'architecture: gorila, actors: 3, learners: 2' "'actors' is not a multiple of 'learners'"
refuses 'architecture: gorila, actors: 2, sampling: proportional' "architecture 'gorila' needs sampling 'uniform'"
refuses 'architecture: gorila, actors: 4, learners: 4, capacity: 300, batch: 100, learning_starts: 100' 'more steps than a learner'"'"'s replay buffer holds'
refuses 'architecture: gorila, actors: 2, engine: torch' "on a CPU, with engine 'plain'"
refuses 'architecture: gorila, actors: 2, environment: breakout, net: minatar-dqn' "use net 'mlp:...', device 'cpu'"
refuses 'architecture: gorilla, actors: 2' "did you mean 'gorila'"
printf 'format: 1\nrecipe: b\nexperiments:\n  b: { plugin: replay, with: { architecture: gorila, actors: 1, environment: catch, net: "mlp:1", server_shards: 256 } }\n' >b.recipe
fails 1 orch run b.recipe -q
says "256 shards are more than the 57 parameters of the network"
says 'lower server_shards'
printf 'format: 1\nrecipe: b\nexperiments:\n  b: { plugin: replay, with: { architecture: gorila, actors: 2, learners: 2, net: "mlp:32", lr: 10, server_optimizer: sgd, huber: false, target: false, steps: 8000, learning_starts: 100, capacity: 1000, loss_deviations: 0 } }\n' >b.recipe
ok orch run b.recipe -q --db diverged.db
ok orch export --format json --db diverged.db
same "$(json 0.state)" diverged state
ok orch show "$(json 0.key)" --db diverged.db
has 'is not finite'
fails 2 "$BUILD/plugins/common/orch-replay-learner"
says 'only a trial of plugin replay'
