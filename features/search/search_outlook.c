/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/search/search_outlook.h"

#include "features/search/samplers/sampler_grid.h"
#include "lib/base/text.h"

#include <math.h>

/* What is known of one search before it runs. */
struct outlook {
    unsigned left;     /* trials */
    double forecast_s; /* device time of those with a forecast */
    unsigned forecast; /* number of these */
};

static struct outlook look(const struct orch_run_outlook *run, const struct orch_search_point *of)
{
    struct outlook out = {0};
    for (unsigned i = 0; i < run->plan->count; i++) {
        const struct orch_plan_item *item = &run->plan->items[i];
        const struct orch_search_point *point = item->cell->point;
        struct orch_forecast forecast;
        if (!point || point->search != of->search || point->group != of->group ||
            !orch_plan_will_run(item))
            continue;
        out.left++;
        if (!run->forecaster->forecast(run->forecaster->ctx, item, &forecast))
            continue;
        out.forecast++;
        out.forecast_s += forecast.time_s.mid * orch_plan_item_charged(item);
    }
    return out;
}

/* "150 trials, 12 min of device time, $0.40" */
static char *amount_text(const struct orch_run_outlook *run, double trials, double trial_s)
{
    const double usd = run->price ? run->price->usd_per_hour * trials * trial_s / 3600 : 0;
    char count[ORCH_REAL_CHARS];
    GString *text = g_string_new(orch_real_format(trials, count));
    g_string_append(text, trials > 1 ? " trials" : " trial");
    if (isfinite(trial_s)) {
        g_autofree char *time = orch_duration_format(trials * trial_s);
        g_string_append_printf(text, ", %s of device time", time);
    }
    if (usd > 0)
        g_string_append_printf(text, ", $%.2f", usd);
    return g_string_free(text, FALSE);
}

static void print_search(struct orch_cli *cli, const struct orch_run_outlook *run,
                         const struct orch_plan_item *item)
{
    const struct orch_search_point *of = item->cell->point;
    const struct outlook out = look(run, of);
    const double trial_s = out.forecast_s / out.forecast; /* NAN: no forecast */
    const double grid = orch_search_grid_points(of->search->space) * item->cell->experiment->repeat;
    g_autofree char *search = amount_text(run, out.left, trial_s);
    g_autofree char *whole = amount_text(run, grid, trial_s);
    if (out.left)
        orch_cli_info(cli,
                      "the search of %s takes at most %s; a grid with %d values of each parameter "
                      "would take %s",
                      item->cell->experiment->name, search, ORCH_SEARCH_GRID_VALUES, whole);
}

void orch_search_outlook_print(struct orch_cli *cli, const struct orch_run_outlook *outlook)
{
    for (unsigned i = 0; i < outlook->plan->count; i++) {
        const struct orch_plan_item *item = &outlook->plan->items[i];
        if (item->cell->point && item->cell->point->number == 1 && item->cell->repeat == 1)
            print_search(cli, outlook, item);
    }
}
