# Three members search together in a folder, with one recipe and so with equal seeds, while a rule stops trials: each claims a
# point of its own. One of them dies: its claim expires, and the others bring the search to its number of points. Who comes
# later has nothing to run, and a larger number of trials continues from what all have.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
export ORCH_SLOTS=off # these are several machines
cd "$SCRATCH"
export ORCH_CLAIM_S=8
recipe() { # recipe TRIALS
    cat <<R
format: 1
recipe: tune
experiments:
  tune:
    plugin: model
    search:
      opt: [sgd, adam]
      lr: loguniform(1e-4, 1)
      momentum: uniform(0, 1) if opt = sgd
    objective: { metric: min loss, trials: $1, stop: "asha(min=3, factor=3)" }
R
}
mkdir hub
for who in ada bob eve dan; do
    git init -q $who
    git -C $who commit -q --allow-empty -m 'an empty tree'
    cat >$who/model.py <<'P'
import json, math, os, time
p = json.loads(os.environ['ORCH_PARAMS'])
for epoch in range(12):
    time.sleep(0.1)
    loss = (math.log10(p['lr']) + 2) ** 2 + (p['opt'] == 'sgd') * p['momentum'] + 1 / (epoch + 1)
    print(f'epoch={epoch} loss={loss}', flush=True)
P
    cat >$who/model.plugin <<'P'
plugin: model
version: 1.0.0
about: a curve in closed form
metrics_from: lines
command: [python3, model.py]
parameters:
  opt: { type: string, default: sgd }
  lr: { type: real, min: 0, default: 0.1 }
  momentum: { type: real, min: 0, max: 1, default: 0.5 }
metrics:
  loss: { better: min, step: epoch }
P
    recipe 14 >$who/tune.recipe
done
runs_of() { # runs_of CLONE CONDITION: their number
    ok orch -C "$1" ls --json -n 1000 --where "$2"
    json runs.#
}
points_of() { # points_of CLONE [all]: each once, or all that ended well; a trial that was promoted has two runs
    orch -C "$1" ls --json -n 1000 --where 'state = ok or state = pruned' | python3 -c 'import json, sys
runs = json.load(sys.stdin)["runs"]
points = [str(sorted(r["setting"].items())) for r in runs if len(sys.argv) == 1 or r["state"] == "ok"]
for p in sorted(points if len(sys.argv) > 1 else set(points)): print(p)' ${2:+"$2"}
}
search() { # search WHO: in its clone, as another machine would
    cd "$1" && ORCH_USER=$1 exec orch run tune.recipe --share --remote ../hub --wait >"../$1.out" 2>"../$1.err"
}
for who in ada bob eve; do
    search $who &
    [ $who = bob ] && bob=$!
done
for _ in $(seq 300); do # it has begun a trial
    [ "$(orch -C bob ls --json --where 'who = bob' 2>/dev/null | grep -c '"key"')" -gt 0 ] && break
    sleep 0.1
done
kill -9 $bob
wait $bob 2>/dev/null
wait
number=$(points_of ada | wc -l)
[ "$number" -ge 14 ] && [ "$number" -le 16 ] || _fail "$number points were tried: $(<ada.err) $(<eve.err)" # the last may begin at once
same "$(points_of ada all | uniq -d)" '' 'points that ended twice'
same "$(points_of ada)" "$(points_of eve)" 'the points'
for who in ada eve; do
    [ "$(runs_of ada "who = $who")" -ge 3 ] || _fail "$who tried few of $number points"
done
[ "$(runs_of ada 'state = pruned')" -ge 1 ] || _fail "nothing was pruned: $(<ada.err)"

cd dan
ORCH_USER=dan ok orch run tune.recipe --share --remote ../hub --wait
says "best of $number settings"
cd ..
same "$(points_of dan)" "$(points_of ada)" 'the points of one who comes later'
recipe $((number + 3)) >dan/tune.recipe
cd dan
ORCH_USER=dan ok orch run tune.recipe --share --remote ../hub --wait
cd ..
same "$(points_of dan | wc -l)" $((number + 3)) 'points after more were asked for'
same "$(points_of dan all | uniq -d)" '' 'points that ended twice'
ok orch -C dan db check
