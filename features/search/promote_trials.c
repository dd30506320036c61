/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/search/promote_trials.h"

#include "features/search/search_limits.h"
#include "features/search/stop_curves.h"

/* The first item of the search whose point is open, or else `index`, which is one of it. */
static unsigned open_or(const struct orch_plan *plan, unsigned index)
{
    const struct orch_search_point *of = plan->items[index].cell->point;
    for (unsigned i = 0; i < plan->count; i++)
        if (orch_stop_curves_is_of(plan->items[i].cell, of) &&
            orch_cell_is_open(plan->items[i].cell))
            return i;
    return index;
}

/* Whether the search may spend what one more attempt costs, and still looks for a better point. */
static bool may_go_on(const struct orch_promoter *promoter, struct orch_plan *plan, unsigned index,
                      bool *out, GError **error)
{
    const struct orch_search_point *point = plan->items[index].cell->point;
    const struct orch_search *search = point->search;
    struct orch_tried_points points = {0};
    bool waits;
    bool ok = orch_tried_read_failures(promoter->tried, plan, open_or(plan, index), error) &&
              orch_tried_read(promoter->tried, plan, point, &points, error);
    *out = false;
    if (ok && !orch_search_is_reached(search, points.best_whole) &&
        !orch_search_is_reached(search, points.hopeful_value)) {
        g_autofree char *why = orch_search_limit_reached(search, &points, 1, promoter->usd_per_hour,
                                                         promoter->since_ns, &waits);
        *out = !why;
    }
    orch_tried_points_clear(&points);
    return ok;
}

/* Looks for a trial of the search of `of` that was stopped and is good after all. */
static bool promote_in(const struct orch_promoter *promoter, struct orch_plan *plan,
                       const struct orch_search_point *of, unsigned *out_index, char **out_why,
                       GError **error)
{
    g_autofree char *why = NULL;
    unsigned index;
    bool may;
    if (!of->search->stop)
        return true;
    if (!orch_stop_trials_promote(promoter->stops, plan, of, &index, &why, error))
        return false;
    if (!why)
        return true;
    if (!may_go_on(promoter, plan, index, &may, error))
        return false;
    if (!may)
        return true;
    if (!orch_stop_trials_note_promoted(promoter->stops, plan, index, error) ||
        !orch_tried_note_promoted(promoter->tried, plan, index, error))
        return false;
    *out_index = index;
    *out_why = g_steal_pointer(&why);
    return true;
}

bool orch_promote_trials_ask(const struct orch_promoter *promoter, struct orch_plan *plan,
                             unsigned *out_index, char **out_why, GError **error)
{
    *out_why = NULL;
    for (guint i = 0; i < plan->expansion->points->len; i++) {
        const struct orch_search_point *point = plan->expansion->points->pdata[i];
        if (point->number == 1 && !promote_in(promoter, plan, point, out_index, out_why, error))
            return false;
        if (*out_why)
            return true;
    }
    return true;
}
