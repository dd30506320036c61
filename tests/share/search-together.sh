# Two clones search together with --share: no point is tried twice, the points of both count for each, also those that still
# run, and together they try as many as the search has. With several metrics both name the same front, also after a kill -9.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
export ORCH_SLOTS=off # these are several machines
cd "$SCRATCH"
export ORCH_CLAIM_S=60 # what others have begun is looked at every 0.2 s
number_in() { # number_in CLONE [CONDITION]: of its runs
    ok orch -C "$1" ls --json -n 1000 --where "${2:-state = ok}"
    json runs.#
}
points_in() { orch -C "$1" ls --json -n 1000 | python3 -c 'import json, sys
for r in json.load(sys.stdin)["runs"]: print(sorted(r["setting"].items()))' | sort; }
recipe() { # recipe TRIALS SEED SECONDS
    cat >tune.recipe <<R
format: 1
recipe: tune
experiments:
  tune:
    plugin: model
    with: { seconds: $3 }
    search:
      opt: [sgd, adam]
      lr: loguniform(1e-4, 1)
      momentum: uniform(0, 1) if opt = sgd
    objective: { metric: min loss, trials: $1, seed: $2 }
R
}
git init -q --bare hub.git
for who in ada bob; do
    git clone -q hub.git $who 2>/dev/null
    cat >$who/model.py <<'P'
import json, math, os, time
p = json.loads(os.environ['ORCH_PARAMS'])
time.sleep(p['seconds'])
print(f"loss={(math.log10(p['lr']) + 2) ** 2 + (p['opt'] == 'sgd') * p['momentum']}")
P
    cat >$who/model.plugin <<'P'
plugin: model
version: 1.0.0
about: a loss in closed form
metrics_from: lines
command: [python3, model.py]
parameters:
  opt: { type: string, default: sgd }
  lr: { type: real, min: 0, default: 0.1 }
  momentum: { type: real, min: 0, max: 1, default: 0.5 }
  seconds: { type: real, min: 0, default: 0 }
metrics:
  loss: { better: min }
P
done
(cd ada && recipe 12 0 1)
(cd bob && recipe 12 7 1) # points of its own
for who in ada bob; do
    (cd $who && ORCH_USER=$who orch run tune.recipe --share --wait >../$who.out 2>../$who.err) &
done
wait
err=$(<ada.err)
says_not warning
number=$(number_in ada)
# the last two may begin at the same instant
[ "$number" = 12 ] || [ "$number" = 13 ] || _fail "$number points were tried: $(<ada.err) $(<bob.err)"
same "$(number_in bob)" "$number" 'what bob has'
same "$(number_in ada 'state != ok')" 0 'runs that did not end well'
same "$(points_in ada | uniq -d)" '' 'points that were tried twice'
same "$(points_in ada)" "$(points_in bob)" 'the points'
for who in ada bob; do
    [ "$(number_in ada "who = $who")" -ge 3 ] || _fail "$who tried few of $number points"
done
says 'best of 12 settings'

# a point that another one has begun is not chosen and takes the place of one here, though it is of no seed of this search
(cd bob && recipe 1 5 6)
(cd ada && recipe 2 0 6)
(cd bob && ORCH_USER=bob exec orch run tune.recipe --share >/dev/null 2>&1) &
for _ in $(seq 200); do
    [ -n "$(git -C hub.git for-each-ref refs/orch/claims)" ] && break
    sleep 0.1
done
cd ada
ORCH_USER=ada ok orch run tune.recipe --share --wait
wait
says 'best of 2 settings'
cd ..
same "$(number_in ada 'seconds = 6 and who = ada') $(number_in ada 'seconds = 6 and who = bob')" '1 1' 'runs of ada and bob'
ok orch -C ada db check
same "$(git -C hub.git for-each-ref --format='%(refname)')" refs/orch/results

# several metrics: ada is killed, goes on, and both name the same front
for who in ada bob; do
    sed -i 's/^print.*/&\nprint(f"size={p[\x27lr\x27]}")/' $who/model.py
    printf '  size: { better: min }\n' >>$who/model.plugin
    (cd $who && recipe 10 3 1 && sed -i 's/metric: min loss/metrics: [min loss, min size]/' tune.recipe)
done
(cd bob && ORCH_USER=bob exec orch run tune.recipe --share --wait >../bob.out 2>../bob.err) &
bob=$!
(cd ada && ORCH_USER=ada exec orch run tune.recipe --share >../ada.out 2>../ada.err) &
killed=$!
until_true grep -q '  ok  ' ada.err
kill -9 $killed
wait $killed || true
cd ada
ORCH_USER=ada ok orch run tune.recipe --share --wait
wait $bob
cd ..
says ' settings (min loss, min size): '
says_not 'run by ada' # the claim that the killed one left

# The last two may have begun at the same instant, so that each has seen another one: what is there counts for both.
sed -i 's/trials: 10/trials: 12/' bob/tune.recipe
ORCH_USER=bob ok orch -C bob run tune.recipe --share
sed -i 's/trials: 12/trials: 10/' bob/tune.recipe
front() { grep -e 'front of' -e '^  tune opt'; }
ORCH_USER=bob ok orch -C bob run tune.recipe --share
says "front of 10 settings"
of_bob=$(front <<<"$err")
ORCH_USER=ada ok orch -C ada run tune.recipe --share
same "$(front <<<"$err")" "$of_bob" 'the front of both'
ok orch -C ada db check
