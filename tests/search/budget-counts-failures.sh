# The budget of a search's objective counts what was spent: trials that failed in an earlier command, and each attempt of a trial.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
cat >fails.plugin <<'P'
plugin: fails
version: 1.0.0
about: half a second, then a failure
metrics_from: lines
command: [python3, -c, 'import sys, time; time.sleep(0.5); sys.exit(f"no {sys.argv[1]}")', '${at}']
parameters:
  at: { type: real, default: 0.5 }
metrics:
  loss: { better: min }
P
# NAME RETRIES BUDGET
recipe() {
    cat >"$1.recipe" <<R
format: 1
recipe: $1
experiments:
  slow:
    plugin: ./fails.plugin
    retries: $2
    search: { at: "uniform(0, 1)" }
    objective: { metric: min loss, trials: 20, sampler: random, budget: $3 }
R
}
count() { orch ls -n 0 --json --where "experiment = slow and state != ok" --recipe "$1" | python3 -c 'import json, sys; print(len(json.load(sys.stdin)["runs"]))'; }

recipe early 0 1.4s
fails 1 orch run early.recipe -j 1
says 'the search of slow ends: it has spent'
n=$(count early)
[ "$n" -ge 1 ] && [ "$n" -le 2 ] || _fail "$n trials of half a second with 1.4 s"
orch run early.recipe -j 1 >out 2>&1 || true
grep -q 'the search of slow ends: it has spent' out || _fail "a second command: $(cat out)"
same "$(count early)" "$n"

# the attempts of the first point have spent so much that there is no second one
sed -i 's/time.sleep(0.5)/time.sleep(20)/; s/about: .*/about: longer than its time/' fails.plugin
recipe again 2 2s
sed -i 's/    retries: 2/    retries: 2\n    timeout: 0.6s/' again.recipe
fails 1 orch run again.recipe -j 1
says 'the search of slow ends: it has spent'
same "$(count again)" 3
