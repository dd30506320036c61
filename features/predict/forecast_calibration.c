/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The calibration of stored forecasts as a chart (a reliability diagram of quantiles). */
#include "features/predict/forecast_scores.h"

#include "lib/base/interval.h"
#include "lib/base/text.h"

#include <math.h>

enum { LEVELS = 19 };

/* The forecast's quantile that the measured time is. */
static double quantile_of(const struct orch_ended_forecast *g)
{
    double off = log(g->wall_s / g->time_s.mid);
    double half =
        off < 0 ? log(g->time_s.mid / g->time_s.low) : log(g->time_s.high / g->time_s.mid);
    return erfc(-off / fmax(half / ORCH_NORMAL_90, 1e-6) / M_SQRT2) / 2; /* the normal CDF */
}

/* Adds the share of measured times below each quantile, with the 95 % interval of a share. */
static void add_series(struct orch_chart_panel *panel, const char *load, const GPtrArray *grades,
                       bool is_planned, bool is_disturbed)
{
    double below[LEVELS] = {0}, count = 0;
    for (guint i = 0; i < grades->len; i++) {
        const struct orch_ended_forecast *g = grades->pdata[i];
        if ((is_planned && g->is_renewed) || g->is_disturbed != is_disturbed)
            continue;
        double quantile = quantile_of(g);
        count++;
        for (int level = 0; level < LEVELS; level++)
            below[level] += quantile <= (level + 1.0) / (LEVELS + 1);
    }
    if (count <= 0)
        return;
    g_autofree char *name =
        g_strdup_printf("%s: %g forecast%s", load, count, orch_plural((int64_t)count));
    struct orch_chart_series *series = orch_chart_series(panel, name, ORCH_SERIES_MEASURED);
    for (int level = 0; level < LEVELS; level++) {
        double share = below[level] / count, z = 1.96, n = count;
        double centre = (share + z * z / (2 * n)) / (1 + z * z / n);
        double half = z / (1 + z * z / n) * sqrt(share * (1 - share) / n + z * z / (4 * n * n));
        struct orch_chart_point *point =
            orch_chart_add(series, 100 * (level + 1.0) / (LEVELS + 1), 100 * share);
        point->low = 100 * fmin(centre - half, share); /* Wilson's interval */
        point->high = 100 * fmax(centre + half, share);
    }
}

struct orch_chart *orch_forecast_calibration(const GPtrArray *grades)
{
    bool is_planned = false;
    for (guint i = 0; i < grades->len; i++)
        is_planned =
            is_planned || !((const struct orch_ended_forecast *)grades->pdata[i])->is_renewed;
    struct orch_chart *chart =
        orch_chart_new(ORCH_CHART_LINE, "calibration of forecasts", "quantile of the forecast (%)",
                       "measured times at or below it (%)");
    struct orch_chart_panel *panel = orch_chart_panel(chart, NULL);
    struct orch_chart_series *ideal = orch_chart_series(panel, "calibrated", ORCH_SERIES_IDEAL);
    orch_chart_add(ideal, 0, 0);
    orch_chart_add(ideal, 100, 100);
    add_series(panel, "own load", grades, is_planned, false);
    add_series(panel, "foreign load", grades, is_planned, true);
    chart->note = g_strdup_printf("forecasts made %s the run; bands: 95 %% interval of the share",
                                  is_planned ? "before" : "during");
    return chart;
}
