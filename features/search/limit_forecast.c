/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/search/limit_forecast.h"

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

/* What is known of one limit. */
struct forecast {
    struct orch_space_process *process; /* NULL: none could be fitted */
    double mean, deviation;             /* of the values, or of their logarithms */
    bool is_log;
    unsigned settings;
};

struct orch_limit_forecasts {
    const struct orch_search *search;
    struct forecast of[ORCH_SEARCH_BOUNDS_MAX];
};

/* Collects the settings that have a value of the limit's metric. */
static size_t collect(const struct orch_tried_points *points, unsigned bound, unsigned d,
                      double *at, double *values)
{
    size_t n = 0;
    for (guint left = points->rows->len; left && n < SETTINGS_MAX; left--) {
        const struct orch_goal_row *row =
            &g_array_index(points->rows, struct orch_goal_row, left - 1);
        const struct orch_sampled *sampled =
            &g_array_index(points->sampled, struct orch_sampled, left - 1);
        if (!row->is_final || !isfinite(row->goals.bound_at[bound]))
            continue;
        memcpy(at + n * d, sampled->point, d * sizeof *at);
        values[n++] = row->goals.bound_at[bound];
    }
    return n;
}

/* Makes the values have mean 0 and variance 1. False: all are equal. */
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
    for (size_t i = 0; i < n; i++)
        squares += (values[i] - f->mean) * (values[i] - f->mean);
    f->deviation = sqrt(squares / (double)n);
    for (size_t i = 0; i < n; i++)
        values[i] = (values[i] - f->mean) / f->deviation;
    return high - low > 1e-9 * fmax(fabs(low), fabs(high));
}

static void fit(const struct orch_search *search, const struct orch_tried_points *points,
                unsigned bound, struct forecast *out)
{
    const unsigned d = search->space->params->len;
    g_autofree double *at = g_new(double, (size_t)SETTINGS_MAX *d),
                      *values = g_new(double, SETTINGS_MAX);
    const size_t n = collect(points, bound, d, at, values);
    out->settings = (unsigned)n;
    if (n >= SETTINGS_MIN && scale(out, values, n))
        out->process = orch_space_process_fit(search->space, at, values, n);
}

struct orch_limit_forecasts *orch_limit_forecasts_new(const struct orch_search *search,
                                                      const struct orch_tried_points *points)
{
    struct orch_limit_forecasts *forecasts = NULL;
    for (unsigned k = 0; k < search->bound_count; k++) {
        if (strcmp(search->bounds[k].metric, "wall_s") == 0)
            continue;
        forecasts = forecasts ? forecasts : g_new0(struct orch_limit_forecasts, 1);
        forecasts->search = search;
        fit(search, points, k, &forecasts->of[k]);
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
    orch_space_process_at(f->process, at, &mean, &deviation, NULL, NULL);
    const double width = ORCH_NORMAL_90 * hypot(deviation, orch_space_process_noise(f->process));
    const double ends[] = {f->mean + f->deviation * (mean - width), f->mean + f->deviation * mean,
                           f->mean + f->deviation * (mean + width)};
    return f->is_log ? (struct orch_interval){exp(ends[0]), exp(ends[1]), exp(ends[2])}
                     : (struct orch_interval){ends[0], ends[1], ends[2]};
}

const struct orch_search_bound *
orch_limit_forecasts_broken(const struct orch_limit_forecasts *forecasts, const double *at,
                            struct orch_interval *out, unsigned *out_settings)
{
    for (unsigned k = 0; forecasts && k < forecasts->search->bound_count; k++) {
        const struct orch_search_bound *bound = &forecasts->search->bounds[k];
        if (!forecasts->of[k].process)
            continue;
        const struct orch_interval i = interval_at(&forecasts->of[k], at);
        if (bound->is_most ? i.low <= bound->value : i.high >= bound->value)
            continue;
        *out = i;
        *out_settings = forecasts->of[k].settings;
        return bound;
    }
    return NULL;
}
