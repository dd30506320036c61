# A member of a shared search dies during a trial and goes on with others: who waits for that trial ends as soon as the group
# has its number of settings, and runs none beyond it.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
export ORCH_SLOTS=off # these are two machines
cd "$SCRATCH"
export ORCH_CLAIM_S=120 # who has work looks at what others have every 4 s, who has none every 0.8 s
git init -q --bare hub.git
for who in ada bob; do
    git clone -q hub.git $who 2>/dev/null
    cat >$who/t.py <<'P'
import os, sys, time
time.sleep(float(os.environ.get("SLOW", "0")))
print("loss", (float(sys.argv[1]) - 0.3) ** 2)
P
    cat >$who/tune.recipe <<'R'
format: 1
recipe: tune
experiments:
  tune:
    program: python3 t.py ${x}
    search: { x: "uniform(0, 1)" }
    objective: { metric: min loss, trials: 6, sampler: sobol, seed: SEED }
R
done
sed -i 's/SEED/1/' ada/tune.recipe
sed -i 's/SEED/2/' bob/tune.recipe # points of its own
(cd ada && SLOW=100 ORCH_USER=ada exec orch run tune.recipe --share >../ada.out 2>../ada.err) &
killed=$!
claims() { git -C hub.git for-each-ref refs/orch/claims; }
for _ in $(seq 100); do
    [ -n "$(claims)" ] && break
    sleep 0.1
done
kill -9 $killed
wait $killed || true
# bob takes the point that ada has begun for one of the six, tries the others, and waits
(cd bob && ORCH_USER=bob exec orch run tune.recipe --share --wait >../bob.out 2>../bob.err) &
bob=$!
until_true grep -q 'waiting: 1 trial is run by ada' bob.err
until_true git -C hub.git rev-parse -q --verify refs/orch/results
# another choice than what ada had begun brings the group to six
cd ada
sed -i 's/seed: 1/seed: 3/' tune.recipe
ORCH_USER=ada ok orch run tune.recipe --share
began=$SECONDS
cd ..
wait $bob
[ $((SECONDS - began)) -lt 60 ] || _fail 'bob waited until the claim had expired'
err=$(<bob.err)
says 'best of 6 settings'
ok orch -C bob ls --json --where 'recipe = tune and state = ok'
same "$(json runs.#)" 6 'settings of the group'
# two that live end soon after the last trial, not when each looks at the other's results again
export ORCH_CLAIM_S=1800 # who has work looks every 60 s, who has none every 12 s
began=$SECONDS
for who in ada bob; do
    (cd $who && sed -i 's/trials: 6/trials: 12/' tune.recipe && SLOW=0.5 ORCH_USER=$who exec orch run tune.recipe --share --wait >../$who.out 2>../$who.err) &
done
wait
[ $((SECONDS - began)) -lt 50 ] || _fail 'the two waited for each other'
