# What a plugin warns of is shown for open points, too: at the place of the ranges that it accepts, and at values that the search
# chooses. A trial of the store whose values the plugin rejects now is named.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
. "$(dirname "$0")/picky.sh"
picky <<'C'
    const char *widest = getenv("WIDEST");
    if (width > (widest ? atof(widest) : 1000)) {
        host->fail(host, "it is too wide");
        return ORCH_FAILED;
    }
    if (width <= 20)
        host->log(host, ORCH_LOG_WARNING, "it is narrow");
    return ORCH_OK;
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
    objective: { metric: min loss, trials: $2, sampler: sobol }
    repeat: 2
R
}
# the middle is rejected: the warning is that of a place that is accepted
recipe 'uniform(0, 100)' 4
export WIDEST=40
ok orch plan s.recipe
says "experiment 'tune': it is narrow"
# the middle has no warning: a value that is chosen has one, which is said once
export WIDEST=1000
recipe '[1, 50, 2]' 3
ok orch plan s.recipe
says_not 'narrow'
ok orch run s.recipe
says 'it is narrow'
same "$(grep -c 'it is narrow' <<<"$err")" 1
# trials that were run with values that are rejected today, with two repeats each
recipe 'uniform(30, 100)' 5
ok orch run s.recipe
export WIDEST=40
recipe 'uniform(0, 100)' 8
ok orch plan s.recipe
says "a trial of experiment 'tune' with width="
says "is not used by its search: plugin 'picky' rejects these parameters: it is too wide"
says '1 more trial does not belong to a search, because the plugin rejects the values'
same "$(grep -c 'a trial of experiment' <<<"$err")" 3
# reports read what there is
ok orch report s.recipe
says_not 'is not used by'
