# --part K/N selects every N-th trial, beginning with the K-th in declared order, and the trials that these refer to.
# The parts together are the whole plan, and only referenced trials are in several parts.
# test: slow timeout=1200
. "$(dirname "$0")/../cli/lib.sh"
cat >make.plugin <<'Y'
plugin: make
version: 1.0.0
about: makes
licence: MIT
command: [sh, "-c", "sleep 0.2; echo x ${n}; echo ${n} >out.txt"]
parameters: { n: { type: int, default: 1, help: a number } }
metrics: { x: { help: nothing } }
artifacts: { file: out.txt }
Y
cat >use.plugin <<'Y'
plugin: use
version: 1.0.0
about: uses
licence: MIT
command: [sh, "-c", "echo y ${m}"]
parameters: { from: { type: artifact, help: a file }, n: { type: int, default: 1, help: a number }, m: { type: int, default: 1, help: another } }
metrics: { y: { help: nothing } }
Y
cat >chain.recipe <<'R'
format: 1
recipe: chain
experiments:
  make: { plugin: ./make.plugin, sweep: { n: [1, 2, 3] } }
  use: { plugin: ./use.plugin, with: { from: "${make.file}" }, sweep: { n: [1, 2, 3], m: [1, 2, 3] } }
R
ok orch plan chain.recipe --json
same "$(json trials.#)" 12
whole=$out
for k in 1 2 3 4 5; do
    ok orch plan chain.recipe --part $k/5 --json
    echo "$out" >part$k
done
echo "$whole" >whole
python3 - <<'P' || _fail 'the parts are not the plan'
import json
def trials(name): return [t["trial"] for t in json.load(open(name))["trials"]]
whole = trials("whole")
seen = {}
for k in range(1, 6):
    part, own = trials(f"part{k}"), whole[k - 1::5]
    assert all(t in part for t in own), (k, own, part)
    # what came along is what its trials refer to: the 'make' of the same n
    others = [t for t in part if t not in own]
    needed = {"make " + t.split()[1] for t in own if t.startswith("use")}
    assert set(others) == needed - set(own), (k, others, needed)
    for t in own:
        seen[t] = seen.get(t, 0) + 1
assert seen == {t: 1 for t in whole}, seen
P
# coverage of a part is of what the part is to run
ok orch coverage chain.recipe --part 2/5 --json --offline
same "$(json totals.trials)" "$(python3 -c 'import json; print(len(json.load(open("part2"))["trials"]))')"
# two members take a half each, at once: what both halves need is run once
cd "$SCRATCH"
git init -q --bare hub.git
for who in ada bob; do
    git clone -q hub.git $who 2>/dev/null
    cp w/*.plugin w/*.recipe $who
done
export ORCH_CLAIM_S=60
(
    cd ada
    ORCH_USER=ada orch run chain.recipe --part 1/2 --share --wait >../ada.out 2>&1
    echo $? >../ada.status
) &
(
    cd bob
    ORCH_USER=bob orch run chain.recipe --part 2/2 --share --wait >../bob.out 2>&1
    echo $? >../bob.status
) &
wait
same "$(cat ada.status bob.status)" "$(printf '0\n0')" "exit statuses ($(cat ada.out bob.out))"
for who in ada bob; do
    ok orch -C $who pull
    ok orch -C $who ls --json -n 100
    same "$(json runs.#)" 12 "runs of $who"
done
cd ada
ok orch coverage chain.recipe --json
same "$(json totals.done) $(json totals.claimed)" "12 0"
