/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/schedule/promise.h"

#include "lib/base/random.h"
#include "lib/base/reals.h"

#include <math.h>
#include <string.h>

#define DRAWS 1000
/* The number of trials that is reached in this share of the draws. */
#define SURE 0.9

/* ---- one run --------------------------------------------------------------------------------- */

struct one_run {
    const struct orch_promise_trial *trials;
    const double *takes_s; /* what each trial takes in this run */
    size_t count;
    unsigned slots;
    const struct orch_limits *limits; /* NULL: none */
    int64_t now_ns;
    bool *has_started; /* of each trial */
    size_t *running;   /* at most `slots` indices of trials */
    double *running_s; /* and when each of these began */
    size_t first;      /* all trials before this one have started */
    unsigned at_once;  /* length of `running` */
    double time_s;     /* since the run began */
    double spent_s;    /* device time of all trials until then */
    unsigned ended;
};

static struct orch_usage usage_of(const struct one_run *run)
{
    struct orch_usage usage = {.spent_s = run->spent_s};
    for (unsigned i = 0; i < run->at_once; i++) {
        const struct orch_promise_trial *trial = &run->trials[run->running[i]];
        usage.expected_s +=
            trial->devices * fmax(0, trial->time_s.mid - (run->time_s - run->running_s[i]));
    }
    return usage;
}

static int64_t clock_of(const struct one_run *run)
{
    return run->now_ns + (int64_t)(run->time_s * 1e9);
}

/* Whether a trial that runs alone runs now. */
static bool is_closed(const struct one_run *run)
{
    return run->at_once && run->trials[run->running[0]].is_alone;
}

/* Starts what the limits let start now. */
static void start_trials(struct one_run *run)
{
    while (run->first < run->count && run->has_started[run->first])
        run->first++;
    for (size_t i = run->first; i < run->count && run->at_once < run->slots && !is_closed(run);
         i++) {
        const struct orch_promise_trial *trial = &run->trials[i];
        struct orch_usage usage = usage_of(run);
        if (run->has_started[i])
            continue;
        if (run->limits && orch_limits_refuse(run->limits, &usage, trial->time_s.mid,
                                              trial->devices, clock_of(run)) != ORCH_LIMIT_NONE)
            continue;
        if (trial->is_alone && run->at_once)
            return; /* it waits until nothing else runs */
        run->has_started[i] = true;
        run->running[run->at_once] = i;
        run->running_s[run->at_once++] = run->time_s;
    }
}

/* Lets the time pass until a trial ends. False: a limit was reached before. */
static bool end_trial(struct one_run *run)
{
    unsigned next = 0;
    double rate = 0, end_s = HUGE_VAL;
    for (unsigned i = 0; i < run->at_once; i++) {
        double own_s = run->running_s[i] + run->takes_s[run->running[i]];
        rate += run->trials[run->running[i]].devices;
        next = own_s < end_s ? i : next;
        end_s = fmin(end_s, own_s);
    }
    run->spent_s += rate * (end_s - run->time_s);
    run->time_s = end_s;
    struct orch_usage usage = {.spent_s = run->spent_s};
    if (run->limits && orch_limits_reached(run->limits, &usage, clock_of(run)) != ORCH_LIMIT_NONE)
        return false;
    run->at_once--;
    run->running[next] = run->running[run->at_once];
    run->running_s[next] = run->running_s[run->at_once];
    run->ended++;
    return true;
}

static void run_once(struct one_run *run)
{
    memset(run->has_started, 0, run->count * sizeof *run->has_started);
    run->first = run->at_once = run->ended = 0;
    run->time_s = run->spent_s = 0;
    do
        start_trials(run);
    while (run->at_once && end_trial(run));
}

/* ---- all runs -------------------------------------------------------------------------------- */

/* Draws what each trial takes: a log-normal distribution to each side of the median. */
static void draw(const struct orch_promise_trial *trials, size_t count, uint64_t seed,
                 double *takes_s)
{
    uint64_t random = orch_random_stream(seed, 0);
    const double of_all = orch_random_normal(&random);
    for (size_t i = 0; i < count; i++) {
        const struct orch_interval t = trials[i].time_s;
        uint64_t of_setting = orch_random_stream(seed, 1 + (uint64_t)trials[i].setting);
        double z =
            trials[i].is_repeat
                ? (orch_random_normal(&of_setting) + orch_random_normal(&random)) * G_SQRT2 / 2
                : of_all;
        double side = z < 0 ? log(t.mid / t.low) : log(t.high / t.mid);
        takes_s[i] = t.mid * exp(z / ORCH_NORMAL_90 * side);
    }
}

/* The value that this share of the draws is at most. */
static double quantile(double *values, double share)
{
    qsort(values, DRAWS, sizeof *values, orch_compare_reals);
    return values[(size_t)ceil(share * DRAWS) - 1];
}

/* The device time that budgets and allowances leave. */
static double least_budget_s(const struct orch_limits *limits)
{
    double usd_s =
        limits->budget_usd > 0 ? limits->budget_usd / limits->usd_per_hour * 3600 : HUGE_VAL;
    return fmin(fmin(usd_s, limits->budget_s > 0 ? limits->budget_s : HUGE_VAL),
                limits->has_allowance ? limits->allowance_s : HUGE_VAL);
}

void orch_promise_simulate(const struct orch_promise_trial *trials, size_t count, unsigned slots,
                           const struct orch_limits *limits, int64_t now_ns,
                           struct orch_promise *out)
{
    g_autofree double *takes_s = g_new(double, count), *running_s = g_new(double, slots);
    g_autofree bool *has_started = g_new(bool, count);
    g_autofree size_t *running = g_new(size_t, slots);
    double ended[DRAWS], time_s[DRAWS], device_s[DRAWS];
    struct one_run run = {.trials = trials,
                          .takes_s = takes_s,
                          .count = count,
                          .slots = slots,
                          .now_ns = now_ns,
                          .has_started = has_started,
                          .running = running,
                          .running_s = running_s};
    for (unsigned i = 0; i < DRAWS; i++) {
        draw(trials, count, i, takes_s);
        run.limits = limits;
        run_once(&run);
        ended[i] = run.ended;
        run.limits = NULL;
        run_once(&run);
        time_s[i] = run.time_s;
        device_s[i] = run.spent_s;
    }
    *out = (struct orch_promise){.is_made = true, .of = (unsigned)count};
    out->trials = (unsigned)quantile(ended, 1 - SURE);
    if (out->trials == out->of)
        return;
    if (limits->deadline_ns)
        out->more_s =
            fmax(0, quantile(time_s, SURE) - (double)(limits->deadline_ns - now_ns) / 1e9);
    out->more_device_s = fmax(0, quantile(device_s, SURE) - least_budget_s(limits));
}

/* ---- the trials of a plan -------------------------------------------------------------------- */

/* The number of a trial's setting, which its repeats share. */
static unsigned setting_of(GHashTable *settings, const struct orch_cell *cell)
{
    g_autofree char *values = json_dumps(cell->coords, JSON_COMPACT | JSON_SORT_KEYS);
    g_autofree char *name = g_strdup_printf("%p %s", (const void *)cell->experiment, values);
    guint next = g_hash_table_size(settings) + 1;
    guint number = GPOINTER_TO_UINT(g_hash_table_lookup(settings, name));
    if (!number)
        g_hash_table_insert(settings, g_steal_pointer(&name), GUINT_TO_POINTER(next));
    return number ? number : next;
}

/* The forecast of a trial. One of a search, whose values are not chosen yet, stands for a place of
 * its space: those of all its points are spread over each range (multiples of the golden ratio).
 * The trial itself is set there and back, and no copy, because a forecaster knows trials by their
 * index in the plan. */
static bool forecast_of(const struct orch_forecaster *by, const struct orch_plan_item *item,
                        struct orch_forecast *out)
{
    const bool is_open = by->changed && orch_cell_is_open(item->cell);
    if (is_open) {
        orch_cell_open_point(item->cell, fmod(0.6180339887 * item->cell->point->number, 1));
        by->changed(by->ctx, item);
    }
    const bool is_known = by->forecast(by->ctx, item, out);
    if (is_open) {
        orch_cell_open_point(item->cell, ORCH_SEARCH_MIDDLE);
        by->changed(by->ctx, item);
    }
    return is_known;
}

void orch_promise_make(const struct orch_plan *plan, const struct orch_forecaster *forecaster,
                       const struct orch_limits *limits, int64_t now_ns, struct orch_promise *out)
{
    g_autoptr(GArray) trials = g_array_new(FALSE, FALSE, sizeof(struct orch_promise_trial));
    g_autoptr(GHashTable) settings = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    unsigned unknown = 0, of = 0;
    for (unsigned i = 0; i < plan->count; i++) {
        const struct orch_plan_item *item = &plan->items[plan->order[i]];
        struct orch_forecast forecast;
        if (!orch_plan_will_run(item))
            continue;
        of++;
        if (!forecast_of(forecaster, item, &forecast)) {
            unknown++;
            continue;
        }
        struct orch_promise_trial trial = {.time_s = forecast.time_s,
                                           .devices = orch_plan_item_charged(item),
                                           .setting = setting_of(settings, item->cell),
                                           .is_repeat = strcmp(forecast.model, "repeats") == 0,
                                           .is_alone =
                                               orch_experiment_runs_alone(item->cell->experiment)};
        g_array_append_val(trials, trial);
    }
    *out = (struct orch_promise){.of = of, .unknown = unknown};
    if (of && !unknown)
        orch_promise_simulate((const struct orch_promise_trial *)(const void *)trials->data,
                              trials->len, CLAMP(plan->options.slots, 1, 1024), limits, now_ns,
                              out);
}
