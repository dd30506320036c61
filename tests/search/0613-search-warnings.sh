# What a plugin warns of is shown for open points, too: at the place of the ranges that it accepts, and at values that the search
# chooses. A trial of the store whose values the plugin rejects now is named.
. "$(dirname "$0")/../cli/lib.sh"
mkdir picky
cat >picky/picky.c <<'C'
#include <orch/plugin.h>
#include <stdlib.h>
struct params { double width; };
static const struct orch_param PARAMS[] = {
    ORCH_PARAM(struct params, width, ORCH_REAL, .def = "10", .min = "0", .max = "1000"),
};
static const struct orch_metric METRICS[] = {{.name = "loss", .better = ORCH_BETTER_MIN}};
static int check(const void *pointer, const struct orch_host *host)
{
    double width = ((const struct params *)pointer)->width;
    const char *widest = getenv("WIDEST");
    if (width > (widest ? atof(widest) : 1000)) {
        host->fail(host, "it is too wide");
        return ORCH_FAILED;
    }
    if (width <= 20)
        host->log(host, ORCH_LOG_WARNING, "it is narrow");
    return ORCH_OK;
}
static int run(void *state, const void *pointer, const struct orch_host *host)
{
    (void)state;
    host->metric(host, "loss", 1, ((const struct params *)pointer)->width);
    return ORCH_OK;
}
static const struct orch_plugin PLUGIN = {
    ORCH_PLUGIN_HEAD, .name = "picky", .version = "1.0.0", .summary = "rejects what is wide", .licence = "MIT",
    .params_bytes = sizeof(struct params), ORCH_TABLE(params, PARAMS), ORCH_TABLE(metrics, METRICS),
    .check = check, .run = run,
};
ORCH_PLUGIN_EXPORT(PLUGIN)
C
cc -std=c11 -shared -fPIC -I"$SOURCE/include" -o picky/picky.so picky/picky.c || _fail 'cc'
trust picky/picky.so
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
says "a trial of experiment 'tune' that was run with width="
says "does not count for its search: plugin 'picky' rejects these parameters: it is too wide"
says '1 more trial does not count for a search, because the plugin rejects the values'
same "$(grep -c 'a trial of experiment' <<<"$err")" 3
# reports read what there is
ok orch report s.recipe
says_not 'does not count'
