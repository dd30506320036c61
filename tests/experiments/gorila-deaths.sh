# GORILA continues when a learner or an actor is killed, notes it, and leaves no process, whichever process is killed.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
orch plugin show replay >/dev/null 2>&1 || skip 'plugin replay is not built here'
# walks as tests/data/env/walk.py does; from step 150 on it is slow until the file 'go' is there, so that processes can be killed in the middle of a training
sed -e 's/^import json/import json, os, time/' -e 's/^        steps += 1/        steps += 1; total += 1/' -e 's/^place = steps = 0/place = steps = total = 0/' \
    "$SOURCE/tests/data/env/walk.py" >patient.py
cat >>patient.py <<'P'
    if total >= 150 and not os.path.exists(sys.argv[1]):
        time.sleep(0.2)
P
cat >r.recipe <<R
format: 1
recipe: r
experiments:
  local:  { plugin: replay, with: { architecture: gorila, program: "python3 $SCRATCH/w/patient.py $SCRATCH/w/go", actors: 2, envs: 1, learners: 2, steps: 2000, learning_starts: 200, train_every: 2, capacity: 3000 } }
  shared: { plugin: replay, with: { architecture: gorila, program: "python3 $SCRATCH/w/patient.py $SCRATCH/w/go", actors: 2, envs: 1, learners: 2, steps: 2000, learning_starts: 200, train_every: 2, capacity: 3000, replay_memory: shared } }
  bundle: { plugin: replay, with: { architecture: gorila, program: "python3 $SCRATCH/w/patient.py $SCRATCH/w/go", actors: 2, envs: 1, learners: 2, steps: 2001, learning_starts: 200, train_every: 2, capacity: 3000 } }
  killed: { plugin: replay, with: { architecture: gorila, program: "python3 $SCRATCH/w/patient.py $SCRATCH/w/go", actors: 2, envs: 1, learners: 2, steps: 2002, learning_starts: 200, train_every: 2, capacity: 3000 } }
R
# ours PROGRAM INDEX: pid and parent of this test's process of that kind, once there is one
ours() {
    local pid parent
    ps -e -o pid=,args= | awk -v program="/$1" -v index_="$2" \
        'substr($2, length($2) - length(program) + 1) == program && $3 == index_ { print $1, $4 }' |
        while read -r pid parent; do
            case $(readlink "/proc/$pid/cwd") in "$SCRATCH"*) echo "$pid $parent" ;; esac
        done
}
wait_for() {
    local i found
    for ((i = 0; i < 1200; i++)); do
        found=$(ours "$1" "$2")
        [ -n "$found" ] && {
            echo "$found"
            return
        }
        sleep 0.05
    done
    return 1
}
nothing_stays() {
    local i program left
    for ((i = 0; i < 600; i++)); do
        left=
        for program in orch-replay-learner orch-replay-actor; do left+=$(ours $program 0)$(ours $program 1); done
        [ -z "$left" ] && ! ps -e -o args= | grep -v grep | grep -qF "$SCRATCH/w/patient.py" && return
        sleep 0.05
    done
    _fail "processes stayed: $left"
}
# start EXPERIMENT: in the background, until both learners and both actors live
start() {
    rm -f go
    orch run r.recipe "$1" -q >"$SCRATCH/run.out" 2>"$SCRATCH/run.err" </dev/null &
    job=$!
    for process in "learner 0" "learner 1" "actor 0" "actor 1"; do
        # shellcheck disable=SC2086
        wait_for orch-replay-$process >"$SCRATCH/last" || _fail "no $process appeared"
    done
}
finish() {
    wait $job
    status=$? out=$(<"$SCRATCH/run.out") err=$(<"$SCRATCH/run.err")
}
kill_one() { # PROGRAM INDEX
    kill -9 "$(ours "$1" "$2" | cut -d' ' -f1)"
}

start local
kill_one orch-replay-learner 1
touch go
finish
[ $status = 0 ] || _fail 'a training without learner 1'
start shared
kill_one orch-replay-learner 0
kill_one orch-replay-actor 1
touch go
finish
[ $status = 0 ] || _fail 'a training without learner 0 and actor 1'
nothing_stays
ok orch export --format json
python3 - "$SCRATCH/out" <<'P' || _fail 'what the survivors do'
import json, sys
runs = {r["param.replay_memory"]: r for r in json.load(open(sys.argv[1]))}
for memory, r in runs.items():
    assert r["result.learners_died"] == 1 and r["result.actors_died"] == (memory == "shared"), r
    assert r["result.frames"] == 2000 and r["result.updates"] > 0, r
P
keys=$(python3 -c 'import json, sys; print(*(r["key"] for r in sorted(json.load(open(sys.argv[1])), key=lambda r: r["param.replay_memory"])))' "$SCRATCH/out")
ok orch show "${keys% *}"
has 'learner 1 was ended by signal 9 (Killed); training goes on with 1 of 2 and without its actors'
ok orch show "${keys#* }"
has 'learner 0 was ended by signal 9 (Killed); training goes on with 1 of 2'
has 'actor 1 was ended by signal 9'

# nobody is left to learn
start bundle
kill_one orch-replay-learner 0
kill_one orch-replay-actor 1
finish
[ $status = 1 ] || _fail 'a training without a whole bundle'
case $err in *'no learner has actors any more: 1 of 2 actors and 1 of 2 learners have ended'*) ;; *) _fail 'why it failed' ;; esac
nothing_stays

# the trial itself is killed
start killed
kill -9 "$(cut -d' ' -f2 "$SCRATCH/last")"
finish
[ $status = 1 ] || _fail 'a killed trial'
nothing_stays
