/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/search/ended_settings.h"

#include "lib/base/random.h"
#include "predictors/numbers/space_process.h"

#include <math.h>
#include <string.h>

/* With fewer settings nothing is forecast: a process that has few values takes noise for a trend.
 */
#define SETTINGS_MIN 8
/* More are not used, as the equations grow with their cube: the newest ones are. */
#define SETTINGS_MAX 200
/* Values above 0 that span more than this are fitted by logarithms. */
#define LOG_SPAN 5.0
/* Outcomes of the other metrics that are drawn for a trial. */
#define OUTCOMES 256

/* ---- one metric ------------------------------------------------------------------------------ */

/* What is known of one metric. */
struct forecast {
    struct orch_space_process *process; /* NULL: none could be fitted, or all values are equal */
    double mean, deviation;             /* of the values, or of their logarithms */
    bool is_log;
    unsigned settings;
};

/* The value of a row that is forecast: of a limit, or of a goal. */
typedef double number_fn(const struct orch_goal_row *row, unsigned number);

static double of_bound(const struct orch_goal_row *row, unsigned number)
{
    return row->goals.bound_at[number];
}

static double of_goal(const struct orch_goal_row *row, unsigned number)
{
    return row->goals.at[number];
}

/* Collects the settings that have a value. */
static size_t collect(const struct orch_tried_points *points, number_fn *of, unsigned number,
                      unsigned d, double *at, double *values)
{
    size_t n = 0;
    for (guint left = points->rows->len; left && n < SETTINGS_MAX; left--) {
        const struct orch_goal_row *row =
            &g_array_index(points->rows, struct orch_goal_row, left - 1);
        const struct orch_sampled *sampled =
            &g_array_index(points->sampled, struct orch_sampled, left - 1);
        if (!row->is_final || !isfinite(of(row, number)))
            continue;
        memcpy(at + n * d, sampled->point, d * sizeof *at);
        values[n++] = of(row, number);
    }
    return n;
}

/* Makes the values have mean 0 and variance 1. False: all are equal, and the deviation is 0. */
static bool scale(struct forecast *f, double *values, size_t n)
{
    double low = HUGE_VAL, high = -HUGE_VAL, squares = 0;
    for (size_t i = 0; i < n; i++) {
        low = fmin(low, values[i]);
        high = fmax(high, values[i]);
    }
    f->is_log = low > 0 && high / low > LOG_SPAN;
    for (size_t i = 0; i < n; i++)
        f->mean += (values[i] = f->is_log ? log(values[i]) : values[i]) / (double)n;
    if (high - low <= 1e-9 * fmax(fabs(low), fabs(high)))
        return false;
    for (size_t i = 0; i < n; i++)
        squares += (values[i] - f->mean) * (values[i] - f->mean);
    f->deviation = sqrt(squares / (double)n);
    for (size_t i = 0; i < n; i++)
        values[i] = (values[i] - f->mean) / f->deviation;
    return true;
}

/* Fits the values of the settings that have ended. */
static struct forecast fit(const struct orch_search *search, const struct orch_tried_points *points,
                           number_fn *of, unsigned number)
{
    struct forecast out = {0};
    const unsigned d = search->space->params->len;
    g_autofree double *at = g_new(double, (size_t)SETTINGS_MAX *d),
                      *values = g_new(double, SETTINGS_MAX);
    const size_t n = collect(points, of, number, d, at, values);
    out.settings = (unsigned)n;
    if (n >= SETTINGS_MIN && scale(&out, values, n))
        out.process = orch_space_process_fit(search->space, at, values, n);
    return out;
}

/* Mean and standard deviation of a run at a point, of the values or of their logarithms. */
static void predict(const struct forecast *f, const double *at, double *out_mean,
                    double *out_deviation)
{
    double mean = 0, deviation = 0;
    if (f->process) {
        orch_space_process_at(f->process, at, &mean, &deviation, NULL, NULL);
        deviation = hypot(deviation, orch_space_process_noise(f->process));
    }
    *out_mean = f->mean + f->deviation * mean;
    *out_deviation = f->deviation * deviation;
}

static double value_of(const struct forecast *f, double number)
{
    return f->is_log ? exp(number) : number;
}

/* ---- limits ---------------------------------------------------------------------------------- */

struct orch_limit_forecasts {
    const struct orch_search *search;
    struct forecast of[ORCH_SEARCH_BOUNDS_MAX];
};

struct orch_limit_forecasts *orch_limit_forecasts_new(const struct orch_search *search,
                                                      const struct orch_tried_points *points)
{
    struct orch_limit_forecasts *forecasts = NULL;
    for (unsigned k = 0; k < search->bound_count; k++) {
        if (orch_goals_limit_kind(&search->bounds[k]) != ORCH_LIMIT_METRIC)
            continue;
        forecasts = forecasts ? forecasts : g_new0(struct orch_limit_forecasts, 1);
        forecasts->search = search;
        forecasts->of[k] = fit(search, points, of_bound, k);
    }
    return forecasts;
}

void orch_limit_forecasts_free(struct orch_limit_forecasts *forecasts)
{
    for (unsigned k = 0; forecasts && k < ORCH_SEARCH_BOUNDS_MAX; k++)
        orch_space_process_free(forecasts->of[k].process);
    g_free(forecasts);
}

static struct orch_interval interval_at(const struct forecast *f, const double *at)
{
    double mean, deviation;
    predict(f, at, &mean, &deviation);
    return (struct orch_interval){value_of(f, mean - ORCH_NORMAL_90 * deviation), value_of(f, mean),
                                  value_of(f, mean + ORCH_NORMAL_90 * deviation)};
}

const struct orch_search_bound *
orch_limit_forecasts_broken(const struct orch_limit_forecasts *forecasts, const double *at,
                            struct orch_interval *out, unsigned *out_settings)
{
    for (unsigned k = 0; forecasts && k < forecasts->search->bound_count; k++) {
        const struct orch_search_bound *bound = &forecasts->search->bounds[k];
        if (!forecasts->of[k].process)
            continue;
        const struct orch_interval range = interval_at(&forecasts->of[k], at);
        if (bound->is_most ? range.low <= bound->value : range.high >= bound->value)
            continue;
        *out = range;
        *out_settings = forecasts->of[k].settings;
        return bound;
    }
    return NULL;
}

/* ---- the front ------------------------------------------------------------------------------- */

/* The other metrics of a trial, as costs. */
struct outcome {
    double mean[ORCH_SEARCH_GOALS_MAX], deviation[ORCH_SEARCH_GOALS_MAX];
    const struct forecast *of;
};

static void draw(const struct orch_search *search, const struct outcome *outcome, uint64_t *random,
                 double *out)
{
    for (unsigned k = 1; k < orch_goals_count(search); k++) {
        const double z = orch_random_normal(random);
        const double value =
            value_of(&outcome->of[k], outcome->mean[k] + z * outcome->deviation[k]);
        out[k] = orch_goals_goal(search, k).is_max ? -value : value;
    }
}

/* The least cost of the first metric among the points that are as good in all others. */
static double least_cost(const double *points, size_t count, unsigned goals, const double *others)
{
    double least = HUGE_VAL;
    for (size_t i = 0; i < count; i++) {
        bool is_as_good = isfinite(points[i * goals]);
        for (unsigned k = 1; k < goals; k++)
            is_as_good = is_as_good && points[i * goals + k] <= others[k];
        least = is_as_good ? fmin(least, points[i * goals]) : least;
    }
    return least;
}

static void add_wanted(GArray *wanted, double cost)
{
    for (guint i = 0; i < wanted->len; i++) {
        struct orch_stop_wanted *known = &g_array_index(wanted, struct orch_stop_wanted, i);
        if (!(known->cost < cost) && !(known->cost > cost)) {
            known->share += 1.0 / OUTCOMES;
            return;
        }
    }
    const struct orch_stop_wanted one = {cost, 1.0 / OUTCOMES};
    g_array_append_val(wanted, one);
}

/* Draws what the trial may end with in the other metrics. */
static GArray *draw_wanted(const struct orch_search *search, const struct orch_tried_points *points,
                           const struct outcome *outcome)
{
    const unsigned goals = orch_goals_count(search);
    const size_t count = points->rows->len;
    g_autofree double *costs = orch_goals_points(search, (const void *)points->rows->data, count);
    GArray *wanted = g_array_new(FALSE, FALSE, sizeof(struct orch_stop_wanted));
    uint64_t random = orch_random_stream(search->seed, count);
    for (unsigned i = 0; i < OUTCOMES; i++) {
        double others[ORCH_SEARCH_GOALS_MAX];
        draw(search, outcome, &random, others);
        add_wanted(wanted, least_cost(costs, count, goals, others));
    }
    return wanted;
}

GArray *orch_setting_wanted(const struct orch_search *search,
                            const struct orch_tried_points *points, const double *at)
{
    struct forecast of[ORCH_SEARCH_GOALS_MAX] = {{0}};
    struct outcome outcome = {.of = of};
    bool is_known = true;
    for (unsigned k = 1; k < orch_goals_count(search); k++) {
        of[k] = fit(search, points, of_goal, k);
        is_known =
            is_known && of[k].settings >= SETTINGS_MIN && (of[k].process || of[k].deviation <= 0);
        predict(&of[k], at, &outcome.mean[k], &outcome.deviation[k]);
    }
    GArray *wanted = is_known ? draw_wanted(search, points, &outcome) : NULL;
    for (unsigned k = 1; k < orch_goals_count(search); k++)
        orch_space_process_free(of[k].process);
    return wanted;
}
