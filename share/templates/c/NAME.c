/* SPDX-License-Identifier: MIT */
/*
 * @NAME@: minimises f(x) = x^2 by gradient descent with noisy gradients.
 *
 * A skeleton to change into your own. `make`, then:
 *
 *     orch plugin check --trust ./@NAME@.so
 *     orch plugin show ./@NAME@.so
 *
 * orch loads only compiled plugins whose bytes you trust: --trust, or 'orch plugin trust FILE',
 * after each build.
 *
 * Orch starts it in a process of its own: a crash here ends one trial and nothing else. The header
 * orch/plugin.h says what each hook may do.
 */
#include <math.h>
#include <orch/plugin.h>

/* The values of one trial; a row of PARAMS for each member. */
struct params {
    int64_t steps;
    double lr;
    double noise;
};

static const struct orch_param PARAMS[] = {
    ORCH_PARAM(struct params, steps, ORCH_INT, .label = "steps", .def = "100", .min = "1",
               .help = "steps to take"),
    ORCH_PARAM(struct params, lr, ORCH_REAL, .label = "learning rate", .def = "0.1", .min = "0",
               .help = "learning rate"),
    ORCH_PARAM(struct params, noise, ORCH_REAL, .label = "noise", .def = "0.01", .min = "0",
               .help = "standard deviation of the gradient's noise"),
};

/* With a step unit it is a series, without one a result: one value a trial. */
static const struct orch_metric METRICS[] = {
    {.name = "loss",
     .label = "loss",
     .better = ORCH_BETTER_MIN,
     .step_unit = "step",
     .help = "f(x)"},
    {.name = "final_loss",
     .label = "final loss",
     .min = "0",
     .better = ORCH_BETTER_MIN,
     .help = "f(x) after the last step"},
};

/* A normal number by Box and Muller from a 64-bit state (xorshift64*). */
static double uniform(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return ((double)((*state * UINT64_C(2685821657736338717)) >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(uint64_t *state)
{
    double radius = sqrt(-2 * log(uniform(state)));
    return radius * cos(6.283185307179586 * uniform(state));
}

/* Before anything runs, for every trial of a recipe: are these values sensible together? */
static int check(const void *params, const struct orch_host *host)
{
    const struct params *p = params;
    if (p->lr < 1)
        return ORCH_OK;
    host->fail(host, "'lr' of 1 or more never converges");
    return ORCH_FAILED;
}

static int run(void *state, const void *params, const struct orch_host *host)
{
    const struct params *p = params;
    const int64_t steps = host->smoke(host) && p->steps > 2 ? 2 : p->steps;
    uint64_t random =
        host->derive_seed(host, "noise") | 1; /* every random choice: the trial's seed */
    double x = 1;
    (void)state; /* what `open` made; there is none here */
    for (int64_t step = 0; step < steps && !host->cancelled(host); step++) {
        x -= p->lr * (2 * x + p->noise * normal(&random));
        host->metric(host, "loss", step, x * x);
        host->progress(host, (double)(step + 1), (double)steps);
    }
    if (host->cancelled(host))
        return ORCH_CANCELLED;
    host->result(host, "final_loss", x * x);
    return isfinite(x) ? ORCH_OK : ORCH_DIVERGED;
}

static const struct orch_plugin PLUGIN = {
    ORCH_PLUGIN_HEAD,
    .name = "@NAME@",
    .version = "0.1.0", /* raise it whenever results may change */
    .summary = "gradient descent on a parabola",
    .licence = "MIT",
    .params_bytes = sizeof(struct params),
    ORCH_TABLE(params, PARAMS),
    ORCH_TABLE(metrics, METRICS),
    .check = check,
    .run = run,
};
ORCH_PLUGIN_EXPORT(PLUGIN)
