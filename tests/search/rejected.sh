# Values that a plugin rejects are named and left out; another error of the plugin ends the search.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
. "$(dirname "$0")/picky.sh"
picky <<'C'
    if (width > 500)
        abort();
    if (width <= 40)
        return ORCH_OK;
    host->fail(host, "it is too wide");
    return ORCH_FAILED;
C
recipe() { # recipe RANGE TRIALS
    cat >s.recipe <<R
format: 1
recipe: s
experiments:
  tune:
    plugin: picky/picky.so
    search:
      width: $1
    objective: { metric: min loss, trials: $2 }
    repeat: 2
R
}
# the middle of the range and most of its values are rejected: the search looks elsewhere
recipe 'uniform(0, 100)' 6
git add .
git commit -qm picky
ok orch run s.recipe
says 'tune width='
says "is left out: plugin 'picky' rejects these parameters: it is too wide"
says '12 ok'
ok orch ls --json
same "$(json runs.#)" 12
same "$(orch ls --json | python3 -c 'import json, sys
print(len({r["setting"]["width"] for r in json.load(sys.stdin)["runs"]}))')" 6 'points'
ok orch run s.recipe
says 'nothing to run'
# a plugin that rejects all is an error before anything starts
recipe 'uniform(50, 100)' 6
fails 2 orch run s.recipe
says 'it is too wide'
# a plugin that crashes in its check is no refusal: the search ends, what has run stays
recipe '[1, 2, 3, 4, 999]' 5
fails 4 orch run s.recipe
says 'crashed in check'
says_not 'is left out'
