/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/search/search_limits.h"

#include "core/feature/feature.h"
#include "lib/base/error.h"

#include <math.h>

bool orch_search_is_reached(const struct orch_search *search, double value)
{
    /* a share beyond 1 is rather in per cent: of the two readings the one that goes on */
    double until = search->is_max && value > 1 ? search->until_number : search->until;
    if (search->more_count) /* only points that reach all of `until` have a value here */
        return search->has_until && isfinite(value);
    return search->has_until && isfinite(value) && !orch_tried_is_better(search, until, value);
}

bool orch_search_has_limit(const struct orch_search *search)
{
    return search->budget_usd > 0 || search->budget_s > 0 || search->deadline_s > 0;
}

bool orch_search_limits_known(const struct orch_plan *plan, double usd_per_hour, GError **error)
{
    for (unsigned i = 0; !(usd_per_hour > 0) && i < plan->count; i++) {
        const struct orch_cell *cell = plan->items[i].cell;
        bool has_price = false;
        if (!cell->point || !orch_plan_will_run(&plan->items[i]))
            continue;
        const struct orch_search *search = cell->point->search;
        for (unsigned k = 0; k < search->bound_count; k++)
            has_price = has_price || orch_goals_limit_kind(&search->bounds[k]) == ORCH_LIMIT_PRICE;
        if (!(search->budget_usd > 0) && !has_price)
            continue;
        orch_error_set(
            error, ORCH_ERROR_USAGE,
            orch_advice(ORCH_ADVICE_NO_PRICE, "add --price USD (per hour of one device)"),
            "objective of '%s': the search has a %s, but the price per hour of this machine is not "
            "known",
            cell->experiment->name, has_price ? "limit on the price" : "budget in money");
        return false;
    }
    return true;
}

/* Why the budget is used up; takes both texts. */
static char *used_up(char *spent, char *budget)
{
    char *why = g_strdup_printf("it has spent %s of %s, and one more setting would exceed that",
                                spent, budget);
    g_free(spent);
    g_free(budget);
    return why;
}

char *orch_search_limit_reached(const struct orch_search *search,
                                const struct orch_tried_points *points, unsigned repeats,
                                double usd_per_hour, int64_t since_ns, bool *out_waits)
{
    double mean_s = points->ended ? points->spent_s / points->ended : 0;
    double own_s = points->spent_s + repeats * mean_s, all_s = own_s + points->running * mean_s;
    double most_s = search->budget_s > 0 ? search->budget_s : HUGE_VAL;
    double usd_s = search->budget_usd > 0 ? search->budget_usd / usd_per_hour * 3600 : HUGE_VAL;
    *out_waits = false;
    if (search->deadline_s > 0 && (double)since_ns / 1e9 >= search->deadline_s)
        return g_strdup("its deadline has passed");
    if (all_s <= MIN(most_s, usd_s))
        return NULL;
    *out_waits = own_s <= MIN(most_s, usd_s);
    return most_s < usd_s ? used_up(orch_duration_format(points->spent_s),
                                    orch_duration_format(search->budget_s))
                          : used_up(orch_money_format(points->spent_s / 3600 * usd_per_hour),
                                    orch_money_format(search->budget_usd));
}
